/** Parameters of ingest, and the fields of its response. */
import { DEFAULT_MAX_ERRORS, type IngestLimits } from '../../../ingest/pipeline.js';
import {
  arrayOf,
  boolean,
  id,
  integer,
  looseObject,
  strictObject,
  stringEnum,
  Type,
  withDefault,
} from '../../shared/schema.js';
import { PROPOSED, READING_PARAMETERS } from './reading-query.js';

/** Number of rejected records after which a request ends. */
export const INGEST_LIMITS = { rejected: 10_000 } satisfies IngestLimits;

export const IngestQuery = strictObject({
  dry_run: withDefault(
    Type.Optional(
      boolean(
        'Check every record and write nothing. The response has the same counts and errors, and the first records as they would be stored.',
      ),
    ),
    false,
  ),
  on_reject: withDefault(
    Type.Optional(
      stringEnum(
        'What to do with rejected records. `keep` stores them for `reachline dead-letters`. `drop` only lists them in the response. `fail` accepts no record at all, and responds with 422 `records_rejected`.',
        ['keep', 'drop', 'fail'],
      ),
    ),
    'keep',
  ),
  rejected_text: withDefault(
    Type.Optional(boolean('Return the text of the first 1 000 rejected records too, up to 1 MiB in total.')),
    false,
  ),
  max_errors: withDefault(
    Type.Optional(
      integer('How many rejected records `errors` lists. A request ends after 10 000 rejected records.', {
        minimum: 1,
        maximum: INGEST_LIMITS.rejected,
      }),
    ),
    DEFAULT_MAX_ERRORS,
  ),
  import_id: Type.Optional(
    id(
      'Becomes the `data_import_id` of the contacts that the request creates, so that `imports/undo` can delete them. Contacts that exist keep theirs. For contacts only.',
      { examples: ['webinar-2026-11'] },
    ),
  ),
  audience_id: Type.Optional(
    id(
      'Audience that the contacts of the request join; a stale record adds no contact. For contacts only; needs the scope `audiences:write` too.',
      { examples: ['aud_newsletter'] },
    ),
  ),
  ...READING_PARAMETERS,
});
const count = (description: string) => integer(description, { minimum: 0 });
const person = (whose: string) =>
  Type.Optional(count(`Accepted contacts ${whose}. Absent without a look-up of people (\`on_duplicate\`).`));

export const MATCHES = Type.Optional(
  arrayOf(
    'The first 10 records of people who have exactly one contact with another id. Absent without a look-up of people, and if records are stored.',
    looseObject({
      line: integer('Line, or position in the array, from 1.'),
      contact_id: Type.String({ description: 'The contact of this person.' }),
      field: stringEnum('The field in which both agree.', ['work_emails', 'network_a_url']),
      value: Type.String({ description: 'The common address, as the record has it.' }),
    }),
  ),
);

export const MISSING_TABLES = Type.Optional(
  arrayOf(
    'Other tables of the same export that the mapping reads. A request takes one file, so fields that come from these tables stay empty; `reachline ingest --with` reads them. Absent if there are none.',
    Type.String({ description: 'Name of a table, such as `creative_history`.' }),
  ),
);

/** Counts of records, or of what a dry run would do. */
export const RESULT_FIELDS = {
  accepted: count('Records that are durable now, or would be.'),
  rejected: count('Records that were rejected.'),
  skipped: count('Records that the mapping leaves out.'),
  rounded: count(
    'Accepted records with amounts of more than 12 decimal places, which were rounded half-even.',
  ),
  ignored: Type.Optional(
    count('Accepted records whose unknown fields were ignored; absent if unknown fields are rejected.'),
  ),
  suppressed: count('Accepted contacts that were not stored, because the person was erased.'),
  stale: count(
    'Accepted contacts and audiences without effect, because a newer record exists; 0 if workers write the records.',
  ),
  created: person('of new people'),
  updated: person('with an id that a contact or an earlier record has'),
  matched: person(
    'with a new id, of people who have exactly one contact with another id, found by a work email or the profile. With `on_duplicate=update` they update this contact',
  ),
  ambiguous: person('with a new id, of people who have several contacts with other ids'),
  invalid_domains: count('Accepted records whose domain was not a domain, such as `n/a`, and was left out.'),
  invalid_values: count(
    'Accepted records in which the mapping left out placeholders, such as `#N/A` or a phone number that a spreadsheet has rounded.',
  ),
  errors: arrayOf(
    'Reasons for the first rejected records, by line: up to `max_errors`, by default 100.',
    looseObject(
      {
        line: integer('Line, or position in the array, from 1.'),
        code: Type.String({ description: 'Stable code.' }),
        pointer: Type.String({ description: 'JSON Pointer into the record.' }),
        detail: Type.String({ description: 'Explanation in words.' }),
      },
      { $id: 'RecordError', description: 'Why a record was rejected.' },
    ),
  ),
};

export const IngestResponse = looseObject(
  {
    stream: Type.String({ description: 'Stream of the records.' }),
    preset: Type.Optional(
      Type.String({
        description: 'The preset by which `map=auto` recognized the records; absent otherwise.',
      }),
    ),
    dry_run: Type.Optional(boolean('True for a dry run; absent otherwise.')),
    records: Type.Optional(
      arrayOf(
        'The first 3 accepted records, as they would be stored, for a dry run; absent otherwise.',
        looseObject({
          line: integer('Line, or position in the array, from 1.'),
          record: looseObject({}, { description: 'The record of the stream.' }),
        }),
      ),
    ),
    columns: Type.Optional(
      arrayOf(
        'The columns of CSV, for a dry run; absent otherwise.',
        looseObject({
          column: Type.String({ description: 'Name of the column in the file.' }),
          fields: arrayOf(
            'The fields of the stream that it becomes; empty if it is left out.',
            Type.String({ description: 'Name of a field.' }),
          ),
        }),
      ),
    ),
    proposed: PROPOSED,
    matches: MATCHES,
    missing_tables: MISSING_TABLES,
    ...RESULT_FIELDS,
    rejected_records: Type.Optional(
      arrayOf(
        'The first rejected records, with `rejected_text`; absent otherwise.',
        looseObject({
          line: integer('Line, or position in the array, from 1.'),
          text: Type.String({ description: 'The record as it was received.' }),
          pointer: Type.String({ description: 'JSON Pointer into the record.' }),
          detail: Type.String({ description: 'Explanation in words.' }),
        }),
      ),
    ),
    kept: Type.Optional(
      boolean(
        'False if the rejected records could not be stored for `rejections/list`, because their store was unavailable; absent otherwise.',
      ),
    ),
  },
  { description: 'Counts of accepted and rejected records.' },
);
