/**
 * Columns of the views of contacts, audiences and visits. In the embedded engine, a view reads the columns from lines of JSON. On a server,
 * the columns are inserted from a copy of these lines.
 */
import { isArrayField } from '../../contacts/field-types.js';
import { CONTACT_FIELDS, DERIVED_FIELD_NAMES } from '../../contacts/fields.js';
import { checkedIdentifier, identifier, joinSql, type Sql, sql } from '../../shared/sql.js';

interface Column {
  name: string;
  type: Sql;
  comment: string;
  /** Field of the record; by default the name of the column. */
  field?: string;
  /** Type as which the engine parses the field; by default the type of the column. */
  parsed?: Sql;
  /** Expression that computes the column from the field. */
  value?: Sql;
}

export interface RecordView {
  name: string;
  source: 'contacts' | 'audiences' | 'visits';
  comment: string;
  columns: Column[];
  /** Clauses of the view after `FROM`. */
  join?: Sql;
}

const STRING = sql`String`;
const STRINGS = sql`Array(String)`;

const key = (name: string, comment: string, field = name): Column => ({
  name,
  type: STRING,
  comment,
  field,
});
const optional = (name: string, comment: string, field = name, type = STRING): Column => ({
  name,
  type: sql`Nullable(${type})`,
  comment,
  field,
});
const moment = (name: string, comment: string, field = name): Column => ({
  name,
  type: sql`DateTime64(3, 'UTC')`,
  comment,
  field,
  parsed: STRING,
  value: sql`parseDateTime64BestEffort(${checkedIdentifier(field)}, 3, 'UTC')`,
});

const ORGANIZATION = 'Organization the row belongs to';

const contactColumns = Object.entries(CONTACT_FIELDS).map(([name, schema]): Column => {
  const { type, format, description } = schema as { type?: string; format?: string; description?: string };
  const comment = (description ?? name).replace(/\.$/, '');
  if (isArrayField(name as keyof typeof CONTACT_FIELDS)) return { name, type: STRINGS, comment };
  if (type === 'integer') return optional(name, comment, name, sql`Int32`);
  if (format === 'date') {
    return {
      ...optional(name, comment, name, sql`Date32`),
      parsed: sql`Nullable(String)`,
      value: sql`toDate32OrNull(${checkedIdentifier(name)})`,
    };
  }
  return optional(name, comment);
});

const derivedColumns = DERIVED_FIELD_NAMES.map((name) =>
  optional(name, `${name[0]?.toUpperCase()}${name.slice(1)}, computed from the job title`),
);

export const RECORD_VIEWS: readonly RecordView[] = [
  {
    name: 'contacts',
    source: 'contacts',
    comment: 'The contacts, one row each',
    columns: [
      key('organization_id', ORGANIZATION),
      key('contact_id', 'Id of the contact'),
      optional('company_id', 'The same for one company domain; not the id of reachline.companies'),
      ...contactColumns,
      ...derivedColumns,
      {
        name: 'audience_ids',
        type: STRINGS,
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
        type: sql`Bool`,
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
        type: STRING,
        comment: 'Audience',
        field: 'audience_ids',
        parsed: STRINGS,
        value: identifier('member_of'),
      },
      key('contact_id', 'Contact'),
    ],
    join: sql` ARRAY JOIN audience_ids AS member_of`,
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
      optional('has_recording', 'Whether a recording of the visit exists', 'hasRecording', sql`Bool`),
      optional('intent_score', 'Buying intent, higher is stronger', 'intentScore', sql`Int64`),
      optional('company_domain', 'Domain of the company that visited', 'companyDomain'),
    ],
  },
];

export const viewOf = (name: string) => RECORD_VIEWS.find((view) => view.name === name) as RecordView;

/** The fields of a line of JSON and their types, in the syntax of the engine. */
export const parsedFields = ({ columns }: RecordView): Sql =>
  joinSql(
    columns.map(
      ({ field, name, parsed, type }) => sql`${checkedIdentifier(field ?? name)} ${parsed ?? type}`,
    ),
    ', ',
  );

/** Expressions of the columns over the parsed fields, in order. */
export const columnValues = ({ columns }: RecordView): Sql[] =>
  columns.map(({ value, field, name }) => value ?? checkedIdentifier(field ?? name));
