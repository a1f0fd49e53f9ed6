/** Query parameters that say how the text of a file is read. */
import type { DeclaredForms } from '../../ingest/mapping/column-forms.js';
import type { DateOrder } from '../../ingest/mapping/date-format.js';
import type { DecimalMark } from '../../ingest/mapping/number-format.js';
import { MAX_NAME_LENGTH } from '../../ingest/mapping/stored-mappings.js';
import { type OnDuplicate, PeopleResolver } from '../../ingest/resolve-people.js';
import { charsetOf } from '../../ingest/sources/charset.js';
import type { ProposedReading } from '../../ingest/sources/csv.js';
import type { ReadingOptions, TextFormat } from '../../ingest/sources/text.js';
import { contacts } from '../../ingest/streams/contacts.js';
import type { Stream } from '../../ingest/streams/stream.js';
import type { ContactStore } from '../contacts/contact-store.js';
import { invalid, Problem } from '../http/problems.js';
import type { Scope } from '../http/scopes.js';
import { FairSemaphore } from '../shared/fair-semaphore.js';
import { integer, looseObject, stringEnum, Type } from '../shared/schema.js';
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

/** Parameters that a check and the load after it have. */
export const READING_PARAMETERS = {
  map: Type.Optional(
    Type.String({
      description:
        'Name of a mapping that turns the records of another tool into records of the stream: a preset, a file of the folder `REACHLINE_MAPPINGS`, or `auto` for the preset that the records are recognized by.',
      minLength: 1,
      maxLength: MAX_NAME_LENGTH,
      examples: ['crm-contacts'],
    }),
  ),
  date_order: Type.Optional(
    stringEnum(
      'Which comes first in dates of digits, the day (`dmy`) or the month (`mdy`): for CSV and mapped records that do not show it.',
      ['dmy', 'mdy'],
    ),
  ),
  decimal: Type.Optional(
    stringEnum('Decimal mark of numbers, for CSV and mapped records that do not show it.', ['.', ',']),
  ),
  unknown_fields: Type.Optional(
    stringEnum(
      'What becomes of fields that the stream does not have: `reject` rejects the record; `ignore` leaves them out and counts the record in `ignored`. Default: `REACHLINE_INGEST_UNKNOWN_FIELDS`.',
      ['reject', 'ignore'],
    ),
  ),
  on_duplicate: Type.Optional(
    stringEnum(
      'What becomes of a contact with a new id that has a work email or the profile of exactly one other contact: `create` creates it beside the other; `update` changes the other; `reject` rejects the record as `contact_exists`. With several others, `update` and `reject` reject it as `ambiguous_person`. Without the parameter, a load creates it and looks nobody up. Needs `contacts:read` too.',
      ['create', 'update', 'reject'],
    ),
  ),
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
  date_order?: string;
  decimal?: string;
  on_duplicate?: string;
  charset?: string;
  header_row?: number;
}

/** Scopes of a request that looks people up: whoever learns that a person is known reads contacts. */
export const peopleScope = ({ on_duplicate }: ReadingQuery): Scope[] =>
  on_duplicate === undefined ? [] : ['contacts:read'];

/** Looks up the people of contacts; undefined where nobody is looked up. Throws 422 for another stream. */
export function peopleOf(
  { name }: Stream,
  { on_duplicate: asked }: ReadingQuery,
  store: Pick<ContactStore, 'findPeople'>,
  otherwise?: OnDuplicate,
): PeopleResolver | undefined {
  if (name !== contacts.name && asked !== undefined) {
    const detail = `on_duplicate is for ${contacts.name}. Leave it out for ${name}.`;
    throw invalid({ pointer: '?on_duplicate', code: 'not_for_stream', detail });
  }
  const onDuplicate = (asked as OnDuplicate | undefined) ?? otherwise;
  if (name !== contacts.name || onDuplicate === undefined) return undefined;
  return new PeopleResolver(store, onDuplicate);
}

/** How the text of a request is read, and what else may be right. Throws 422 for an unknown charset. */
export class Reading {
  readonly options: ReadingOptions;
  readonly declared: DeclaredForms;
  readonly #proposed: ProposedReading = {};

  constructor(query: ReadingQuery, declared: string | undefined) {
    const label = query.charset ?? declared;
    const charset = label === undefined ? null : charsetOf(label);
    if (charset === undefined) {
      const detail = `There is no charset ${JSON.stringify(label?.slice(0, 64))}. Send its name, such as windows-1252, or the file in UTF-8.`;
      throw invalid({ pointer: '?charset', code: 'unknown_charset', detail });
    }
    this.declared = {
      dateOrder: query.date_order as DateOrder | undefined,
      decimal: query.decimal as DecimalMark | undefined,
    };
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
