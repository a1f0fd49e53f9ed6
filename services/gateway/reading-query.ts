/** Query parameters that say how the text of a file is read. */
import { charsetOf } from '../../ingest/sources/charset.js';
import type { ProposedReading } from '../../ingest/sources/csv.js';
import type { ReadingOptions, TextFormat } from '../../ingest/sources/text.js';
import { invalid, Problem } from '../http/problems.js';
import { FairSemaphore } from '../shared/fair-semaphore.js';
import { integer, looseObject, Type } from '../shared/schema.js';
import { MAX_HELD_BYTES } from './ingest-body.js';

const MAX_HEADER_ROW = 1000;
/** Limit of an unpacked sheet, and of the CSV made of it; Excel packs a sheet to about a tenth. */
const MAX_SHEET_BYTES = 256 * 1024 * 1024;
/** Workbooks that are read at the same time: each holds up to 32 MiB of texts that its cells share. */
const WORKBOOKS = 2;
const workbooks = new FairSemaphore(WORKBOOKS);

/** Reads a file once it is its turn. Organizations with workbooks take turns; other files wait for nothing. */
export const inTurn = <T>(
  format: TextFormat,
  organizationId: string,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> => (format === 'xlsx' ? workbooks.run(organizationId, read, signal) : read());

export const READING_PARAMETERS = {
  charset: Type.Optional(
    Type.String({
      description:
        'Charset of the file, such as `windows-1252`, where it has no byte order mark and is not UTF-8. Default: the `charset` of the `Content-Type`.',
      minLength: 1,
      maxLength: 40,
      examples: ['windows-1252'],
    }),
  ),
  header_row: Type.Optional(
    integer('Line of the column names in CSV, or row of the sheet, from 1; lines before it are left out.', {
      minimum: 1,
      maximum: MAX_HEADER_ROW,
    }),
  ),
};

export const PROPOSED = Type.Optional(
  looseObject(
    {
      charset: Type.Optional(Type.String({ description: 'The `charset` that the file may have.' })),
      header_row: Type.Optional(integer('The `header_row` that the file may have.')),
    },
    { description: 'Parameters with which the file may be read; absent where there are none.' },
  ),
);

export interface ReadingQuery {
  charset?: string;
  header_row?: number;
}

/** How the text of a request is read, and what else may be right. Throws 422 for an unknown charset. */
export class Reading {
  readonly options: ReadingOptions;
  readonly #proposed: ProposedReading = {};

  constructor(query: ReadingQuery, declared: string | undefined) {
    const label = query.charset ?? declared;
    const charset = label === undefined ? null : charsetOf(label);
    if (charset === undefined) {
      const detail = `There is no charset ${JSON.stringify(label?.slice(0, 64))}. Send its name, such as windows-1252, or the file in UTF-8.`;
      throw invalid({ pointer: '?charset', code: 'unknown_charset', detail });
    }
    this.options = {
      ...(charset !== null && { charset: label }),
      headerRow: query.header_row,
      maxJsonBytes: MAX_HELD_BYTES,
      maxSheetBytes: MAX_SHEET_BYTES,
      onProposed: (proposed) => void Object.assign(this.#proposed, proposed),
    };
  }

  /** Absent where the file shows nothing else. */
  get proposed(): { charset?: string; header_row?: number } | undefined {
    const { charset, headerRow } = this.#proposed;
    if (charset === undefined && headerRow === undefined) return undefined;
    return {
      ...(charset !== undefined && { charset }),
      ...(headerRow !== undefined && { header_row: headerRow }),
    };
  }

  /** A problem of the file, with the parameters that may help. */
  withProposed<T>(error: T): T | Problem {
    const { proposed } = this;
    if (proposed === undefined || !(error instanceof Problem) || error.extras.proposed !== undefined) {
      return error;
    }
    const parameters = Object.entries(proposed).map(([name, value]) => `${name}=${value}`);
    const detail = `${error.message} Perhaps it is to be read with ?${parameters.join('&')}.`;
    return new Problem(error.code, detail, { ...error.extras, proposed }, error.headers);
  }
}
