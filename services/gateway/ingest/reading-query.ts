/** Query parameters that say how to read the text of a file. */
import type { DeclaredForms } from '../../../ingest/mapping/column-forms.js';
import type { DateOrder } from '../../../ingest/mapping/date-format.js';
import type { DecimalMark } from '../../../ingest/mapping/number-format.js';
import { MAX_NAME_LENGTH } from '../../../ingest/mapping/stored-mappings.js';
import { type OnDuplicate, PeopleResolver } from '../../../ingest/resolve-people.js';
import { charsetOf } from '../../../ingest/sources/charset.js';
import type { ProposedReading } from '../../../ingest/sources/csv.js';
import type { ReadingOptions, TextFormat } from '../../../ingest/sources/text.js';
import { contacts } from '../../../ingest/streams/contacts.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import type { ContactStore } from '../../contacts/contact-store.js';
import { invalid, Problem } from '../../http/problems.js';
import type { Scope } from '../../http/scopes.js';
import { FairSemaphore } from '../../shared/fair-semaphore.js';
import { integer, looseObject, stringEnum, Type } from '../../shared/schema.js';
import { MAX_HELD_BYTES } from './body.js';

const MAX_HEADER_ROW = 1000;
/** Maximum size of an unpacked sheet, and of the CSV made from it. Excel packs a sheet to about a tenth. */
const MAX_SHEET_BYTES = 256 * 1024 * 1024;
/** Maximum number of workbooks that are read at the same time. Each workbook holds up to 32 MiB of texts that its cells share. */
const WORKBOOKS = 2;
const workbooks = new FairSemaphore(WORKBOOKS);

/** Reads a file when its turn comes. Organizations with workbooks take turns; other files do not wait. */
export const inTurn = <T>(
  format: TextFormat,
  organizationId: string,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> => (format === 'xlsx' ? workbooks.run(organizationId, read, signal) : read());

/** Parameters that the check of a file and the load of a file have in common. */
export const READING_PARAMETERS = {
  map: Type.Optional(
    Type.String({
      description:
        'Name of a mapping that turns records of another tool into records of the stream: a preset, a file in the folder `REACHLINE_MAPPINGS`, or `auto` for the preset that recognizes the records.',
      minLength: 1,
      maxLength: MAX_NAME_LENGTH,
      examples: ['crm-contacts'],
    }),
  ),
  date_order: Type.Optional(
    stringEnum(
      'Whether numeric dates begin with the day (`dmy`) or the month (`mdy`), for CSV and mapped records that do not show it.',
      ['dmy', 'mdy'],
    ),
  ),
  decimal: Type.Optional(
    stringEnum('Decimal mark of numbers, for CSV and mapped records that do not show it.', ['.', ',']),
  ),
  unknown_fields: Type.Optional(
    stringEnum(
      'What to do with fields that the stream does not have: `reject` rejects the record; `ignore` leaves the fields out and counts the record in `ignored`. Default: `REACHLINE_INGEST_UNKNOWN_FIELDS`.',
      ['reject', 'ignore'],
    ),
  ),
  on_duplicate: Type.Optional(
    stringEnum(
      'What to do with a contact that has a new id, but the work email or profile of exactly one stored contact. `create` creates it as well, `update` updates the stored contact, and `reject` rejects the record as `contact_exists`. If several stored contacts match, `update` and `reject` reject it as `ambiguous_person`. Without this parameter, the contact is created without a look-up. Needs the scope `contacts:read` too.',
      ['create', 'update', 'reject'],
    ),
  ),
  charset: Type.Optional(
    Type.String({
      description:
        'Charset of the file, such as `windows-1252`, if it is not UTF-8 and has no byte order mark. Default: the `charset` of the `Content-Type`.',
      minLength: 1,
      maxLength: 40,
      examples: ['windows-1252'],
    }),
  ),
  header_row: Type.Optional(
    integer('Line of the column names in CSV, or row of the sheet, from 1. Earlier lines are skipped.', {
      minimum: 1,
      maximum: MAX_HEADER_ROW,
    }),
  ),
};

export const PROPOSED = Type.Optional(
  looseObject(
    {
      charset: Type.Optional(Type.String({ description: 'The likely `charset`.' })),
      header_row: Type.Optional(integer('The likely `header_row`.')),
    },
    { description: 'Parameters with which the file can probably be read; absent if there are none.' },
  ),
);

export interface ReadingQuery {
  date_order?: string;
  decimal?: string;
  on_duplicate?: string;
  charset?: string;
  header_row?: number;
}

/** Scopes of a request that looks people up: learning that a person has a contact amounts to reading contacts. */
export const peopleScope = ({ on_duplicate }: ReadingQuery): Scope[] =>
  on_duplicate === undefined ? [] : ['contacts:read'];

/** Throws 422 for another stream, because the query parameter is for contacts only. */
export function requireContacts({ name }: Stream, parameter: string): void {
  if (name === contacts.name) return;
  const detail = `${parameter} is for ${contacts.name}. Leave it out for ${name}.`;
  throw invalid({ pointer: `?${parameter}`, code: 'not_for_stream', detail });
}

/** Looks up the people of contacts; undefined without `on_duplicate`. Throws 422 for another stream. */
export function peopleOf(
  stream: Stream,
  { on_duplicate: asked }: ReadingQuery,
  store: Pick<ContactStore, 'findPeople'>,
  otherwise?: OnDuplicate,
): PeopleResolver | undefined {
  if (asked !== undefined) requireContacts(stream, 'on_duplicate');
  const onDuplicate = (asked as OnDuplicate | undefined) ?? otherwise;
  if (stream.name !== contacts.name || onDuplicate === undefined) return undefined;
  return new PeopleResolver(store, onDuplicate);
}

/** Says how the text of a request is read, and which other reading may be right. Throws 422 for an unknown charset. */
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

  /** Absent if the file suggests no other reading. */
  get proposed(): { charset?: string; header_row?: number } | undefined {
    const { charset, headerRow } = this.#proposed;
    if (charset === undefined && headerRow === undefined) return undefined;
    return {
      ...(charset !== undefined && { charset }),
      ...(headerRow !== undefined && { header_row: headerRow }),
    };
  }

  /** Adds parameters that may help to a problem of the file. */
  withProposed<T>(error: T): T | Problem {
    const { proposed } = this;
    if (proposed === undefined || !(error instanceof Problem) || error.extras.proposed !== undefined) {
      return error;
    }
    const parameters = Object.entries(proposed).map(([name, value]) => `${name}=${value}`);
    const detail = `${error.message} Perhaps it must be read with ?${parameters.join('&')}.`;
    return new Problem(error.code, detail, { ...error.extras, proposed }, error.headers);
  }
}
