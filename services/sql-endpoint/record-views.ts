/** The views of contacts, audiences and visits in the engine in process. They hold no rows: records.ts sends these to a statement. */
import { CONTACT_FIELDS, isArrayField } from '../contacts/fields.js';
import { literal } from '../stores/clickhouse/bind.js';
import type { Runner } from './statement.js';

export const RECORD_VIEWS: ReadonlySet<string> = new Set([
  'contacts',
  'audiences',
  'memberships',
  'website_visits',
]);

/**
 * A setting of the engine that holds an address, which nothing else here uses: the views read records from below it. Settings of one's
 * own do not exist in process.
 */
const ADDRESS_SETTING = 'format_avro_schema_registry_url';

/** Settings of a statement that may read records. Under `readonly = 1` the engine opens no address. */
export const recordSettings = (address: string): Record<string, string> => ({
  [ADDRESS_SETTING]: address,
  readonly: '2',
  http_make_head_request: '0',
  http_max_tries: '1',
  max_http_get_redirects: '0',
});

interface Column {
  name: string;
  type: string;
  comment: string;
  /** Of the record; equals the name unless given. */
  field?: string;
  /** Type that the engine parses the field as; that of the column unless given. */
  parsed?: string;
  /** SQL over the field. */
  value?: string;
}

interface RecordView {
  name: string;
  source: 'contacts' | 'audiences' | 'visits';
  comment: string;
  columns: Column[];
  /** Clauses behind `FROM`. */
  join?: string;
}

const key = (name: string, comment: string, field = name): Column => ({
  name,
  type: 'String',
  comment,
  field,
});
const optional = (name: string, comment: string, field = name, type = 'String'): Column => ({
  name,
  type: `Nullable(${type})`,
  comment,
  field,
});
const moment = (name: string, comment: string, field = name): Column => ({
  name,
  type: "DateTime64(3, 'UTC')",
  comment,
  field,
  parsed: 'String',
  value: `parseDateTime64BestEffort(${field}, 3, 'UTC')`,
});

const ORGANIZATION = 'Organization the row belongs to';

const contactColumns = Object.entries(CONTACT_FIELDS).map(([name, schema]): Column => {
  const { type, format, description } = schema as { type?: string; format?: string; description?: string };
  const comment = (description ?? name).replace(/\.$/, '');
  if (isArrayField(name as keyof typeof CONTACT_FIELDS)) return { name, type: 'Array(String)', comment };
  if (type === 'integer') return optional(name, comment, name, 'Int32');
  if (format === 'date') {
    return {
      ...optional(name, comment, name, 'Date32'),
      parsed: 'Nullable(String)',
      value: `toDate32OrNull(${name})`,
    };
  }
  return optional(name, comment);
});

const VIEWS: RecordView[] = [
  {
    name: 'contacts',
    source: 'contacts',
    comment: 'The contacts, one row each',
    columns: [
      key('organization_id', ORGANIZATION),
      key('contact_id', 'Id of the contact'),
      optional('company_id', 'The same for one company domain; not the id of reachline.companies'),
      ...contactColumns,
      {
        name: 'audience_ids',
        type: 'Array(String)',
        comment: 'Audiences the contact is a member of, ascending',
      },
      moment('created_at', 'When the contact was first recorded'),
      moment('updated_at', 'When the contact last changed'),
    ],
  },
  {
    name: 'audiences',
    source: 'audiences',
    comment: 'The audiences, one row each',
    columns: [
      key('organization_id', ORGANIZATION),
      key('audience_id', 'Id of the audience', 'id'),
      key('name', 'Name'),
      optional('description', 'Description'),
      ...['network_a', 'network_b', 'network_c'].map((name) => ({
        name,
        type: 'Bool',
        comment: `Whether it is used on ${name}`,
      })),
      optional('tracking_utm_value', 'UTM value that marks its visits'),
      moment('created_at', 'When the audience was first recorded'),
    ],
  },
  {
    name: 'memberships',
    source: 'contacts',
    comment: 'A row for each audience of each contact',
    columns: [
      key('organization_id', ORGANIZATION),
      {
        name: 'audience_id',
        type: 'String',
        comment: 'Audience',
        field: 'audience_ids',
        parsed: 'Array(String)',
        value: 'member_of',
      },
      key('contact_id', 'Contact'),
    ],
    join: ' ARRAY JOIN audience_ids AS member_of',
  },
  {
    name: 'website_visits',
    source: 'visits',
    comment: 'The visits to the website, one row each',
    columns: [
      key('organization_id', ORGANIZATION, 'organizationId'),
      key('visit_id', 'Id of the visit, unique with its moment', 'id'),
      moment('created_at', 'When the visit began', 'createdAt'),
      optional('audience_id', 'Audience the visitor belongs to', 'audienceId'),
      optional('start_url', 'First page', 'startUrl'),
      optional('country', 'Country of the visitor'),
      optional('country_code', 'ISO 3166 code of that country', 'countryCode'),
      optional('city', 'City of the visitor'),
      optional('ip_address', 'Address of the visitor', 'ipAddress'),
      optional('browser', 'Browser'),
      optional('browser_version', 'Version of the browser', 'browserVersion'),
      optional('platform', 'Operating system'),
      optional('has_recording', 'Whether a recording of the visit exists', 'hasRecording', 'Bool'),
      optional('intent_score', 'Buying intent, higher is stronger', 'intentScore', 'Int64'),
    ],
  },
];

/** Creates the views, or replaces those of another version. */
export async function createRecordViews(runner: Runner, database: string): Promise<void> {
  for (const { name, source, comment, columns, join = '' } of VIEWS) {
    const declared = columns.map(
      (column) => `${column.name} ${column.type} COMMENT ${literal(column.comment)}`,
    );
    const selected = columns.map(
      (column) => `${column.value ?? column.field ?? column.name} AS ${column.name}`,
    );
    const fields = columns.map((column) => `${column.field ?? column.name} ${column.parsed ?? column.type}`);
    await runner.run({
      sql: `CREATE OR REPLACE VIEW ${database}.${name} (${declared.join(', ')}) AS SELECT ${selected.join(', ')}
        FROM url(concat(getSetting('${ADDRESS_SETTING}'), '${source}'), 'JSONEachRow', ${literal(fields.join(', '))})${join}
        COMMENT ${literal(comment)}`,
      format: 'Null',
      database: '',
      settings: {},
      params: {},
      cancellable: false,
      inserts: false,
    });
  }
}
