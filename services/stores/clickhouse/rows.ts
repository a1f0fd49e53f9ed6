/** Converts records to rows of the tables. A row is the values of the table's columns, in order. */
import {
  type Attribute,
  type Attributes,
  campaignAttributes,
  companyAttributes,
  creativeAttributes,
} from '../../advertising/attributes.js';
import { SUMMED_METRICS, SUMMED_NAMES } from '../../advertising/metrics.js';
import { requireMoneyText } from '../../advertising/money.js';
import type {
  CampaignRecord,
  CompanyRecord,
  CreativeRecord,
  CurrencyRateRecord,
  DeliveryRecord,
} from '../../advertising/records.js';
import type { ContactChange } from '../../contacts/change-feed.js';
import { type OrderedRecord, recordOrder } from '../../shared/record-order.js';
import { parseTimestamp } from '../../shared/time.js';
import { monthOfVisit } from '../../visits/retention.js';
import type { Visit, VisitRecord } from '../../visits/schema.js';
import { toVisit } from '../../visits/stored-visit.js';
import type { CopyPosition } from '../common/sql-copy.js';

export type RowFormat = 'TabSeparated' | 'JSONEachRow';

/** Rows of one table as text. Every row ends with a line feed. */
export interface Rows {
  /** Database of the table on a server; by default the one of the tables. */
  database?: string;
  table: string;
  /** Columns of the rows, in order. Empty for lines of JSON, which name their columns; names that are not a column are ignored. */
  columns: readonly string[];
  text: string;
  /** By default TabSeparated. */
  format?: RowFormat;
}

type Value = string | number | null;
/** A column and its value for a record. */
type Column<T> = readonly [name: string, value: (record: T, ordered: OrderedRecord<T>) => Value];
interface Table<T> {
  name: string;
  columns: readonly Column<T>[];
}

/** The text stored for an attribute; null if the record does not have the attribute. */
function storedText({ normalize }: Attribute, value: string | number | null | undefined): string | null {
  if (value === undefined || value === null || value === '') return null;
  return (normalize ? normalize(value) : String(value)) || null;
}

const version = <T>(reportedAt: (record: T) => string | null | undefined): Column<T> => [
  'version',
  (record, { acceptedAt, sequence }) => recordOrder(reportedAt(record), acceptedAt, sequence),
];

/** A table of whole records: their ids, their attributes, and the `<name>_key` columns of attributes that are compared. */
function entityTable<T extends { updated_at?: string | null }>(
  name: string,
  ids: (keyof T & string)[],
  attributes: Attributes,
): Table<T> {
  const columns = ids.map((id): Column<T> => [id, (record) => record[id] as string]);
  const keys: Column<T>[] = [];
  for (const [field, attribute] of Object.entries(attributes)) {
    const stored = (record: T) => storedText(attribute, record[field as keyof T] as string | number | null);
    columns.push([field, stored]);
    const { key } = attribute;
    if (!key) continue;
    keys.push([
      `${field}_key`,
      (record) => {
        const text = stored(record);
        return text === null ? null : key(text);
      },
    ]);
  }
  return { name, columns: [...columns, ...keys, version((record) => record.updated_at)] };
}

const campaigns = entityTable<CampaignRecord>('campaigns', ['organization_id', 'id'], campaignAttributes);
const creatives = entityTable<CreativeRecord>(
  'creatives',
  ['organization_id', 'id', 'campaign_id'],
  creativeAttributes,
);
const companies = entityTable<CompanyRecord>('companies', ['organization_id', 'id'], companyAttributes);

const deliveries: Table<DeliveryRecord> = {
  name: 'deliveries',
  columns: [
    ['organization_id', (record) => record.organization_id],
    ['date', (record) => record.date],
    ['campaign_id', (record) => record.campaign_id],
    ['creative_id', (record) => record.creative_id ?? ''],
    ['company_id', (record) => record.company_id ?? ''],
    ...SUMMED_NAMES.map((name): Column<DeliveryRecord> => {
      if (SUMMED_METRICS[name].kind === 'money') {
        return [name, (record) => (record[name] ? requireMoneyText(record[name]) : '0')];
      }
      return [name, (record) => record[name] ?? 0];
    }),
    version((record) => record.reported_at),
  ],
};

const currencyRates: Table<CurrencyRateRecord> = {
  name: 'currency_rates',
  columns: [
    ['organization_id', (record) => record.organization_id],
    ['currency', (record) => record.currency],
    ['date', (record) => record.date],
    ['per_eur', (record) => requireMoneyText(record.per_eur)],
    version((record) => record.updated_at),
  ],
};

const MAX_VERSION = 2n ** 128n - 1n;
/** Range of years that date-times of the engine support. */
const VISIT_YEARS = { first: '1900', last: '2298' };

const flag = (value: boolean | null): Value => (value === null ? null : Number(value));

const visits: Table<Visit> = {
  name: 'website_visits',
  columns: [
    ['organization_id', (visit) => visit.organizationId],
    ['visit_id', (visit) => visit.id],
    ['created_at', (visit) => visit.createdAt.slice(0, 23).replace('T', ' ')],
    ['audience_id', (visit) => visit.audienceId],
    ['start_url', (visit) => visit.startUrl],
    ['country', (visit) => visit.country],
    ['country_code', (visit) => visit.countryCode],
    ['city', (visit) => visit.city],
    ['ip_address', (visit) => visit.ipAddress],
    ['browser', (visit) => visit.browser],
    ['browser_version', (visit) => visit.browserVersion],
    ['platform', (visit) => visit.platform],
    ['has_recording', (visit) => flag(visit.hasRecording)],
    ['intent_score', (visit) => visit.intentScore],
    ['company_domain', (visit) => visit.companyDomain],
    [
      'version',
      (_, { acceptedAt, sequence }) => String(MAX_VERSION - BigInt(recordOrder(null, acceptedAt, sequence))),
    ],
  ],
};

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: { [character: string]: string } = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function tabSeparated(value: Value): string | number {
  if (value === null) return '\\N';
  if (typeof value === 'number' || !SPECIAL.test(value)) return value;
  return value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] as string);
}

/** Joins rows one by one: appending every cell to one text takes more than twice as long, mostly in garbage collection. */
function toRows<T>({ name: table, columns }: Table<T>, records: readonly OrderedRecord<T>[]): Rows {
  const names = columns.map(([name]) => name);
  const cells = new Array<string | number>(columns.length);
  const lines: string[] = [];
  for (const ordered of records) {
    for (let index = 0; index < columns.length; index++) {
      const [, value] = columns[index] as Column<T>;
      cells[index] = tabSeparated(value(ordered.record, ordered));
    }
    lines.push(cells.join('\t'));
  }
  return { table, columns: names, text: lines.length === 0 ? '' : `${lines.join('\n')}\n` };
}

export const campaignRows = (records: readonly OrderedRecord<CampaignRecord>[]) => toRows(campaigns, records);
export const creativeRows = (records: readonly OrderedRecord<CreativeRecord>[]) => toRows(creatives, records);
export const companyRows = (records: readonly OrderedRecord<CompanyRecord>[]) => toRows(companies, records);
export const deliveryRows = (records: readonly OrderedRecord<DeliveryRecord>[]) =>
  toRows(deliveries, records);
export const currencyRateRows = (records: readonly OrderedRecord<CurrencyRateRecord>[]) =>
  toRows(currencyRates, records);

/** Rows of the visits whose year the engine can store. */
export function visitRows(records: readonly OrderedRecord<VisitRecord>[]): Rows {
  const ordered = records.map(({ record, ...order }) => ({
    record: toVisit(record, parseTimestamp(record.createdAt)),
    ...order,
  }));
  const inRange = ordered.filter(({ record: { createdAt } }) => {
    const year = createdAt.slice(0, 4);
    return year >= VISIT_YEARS.first && year <= VISIT_YEARS.last;
  });
  return toRows(visits, inRange);
}

/** Greatest version of a row. */
export const HIDDEN = '18446744073709551615';

const jsonLines = (table: string, lines: readonly string[]): Rows => ({
  table,
  columns: [],
  text: lines.map((line) => `${line}\n`).join(''),
  format: 'JSONEachRow',
});

const absentLine = (organizationId: string, contactId: string, version: number | string) =>
  `{"organization_id":${JSON.stringify(organizationId)},"contact_id":${JSON.stringify(contactId)},"version":${version},"is_deleted":1}`;

/** Contacts as the feed of changes has them, and one row with the position. */
export function contactLines(changes: readonly ContactChange[], position: CopyPosition): Rows {
  const { version } = position;
  const lines = changes.map(({ organizationId, contactId, contact }) =>
    contact === null
      ? absentLine(organizationId, contactId, version)
      : `${contact.slice(0, -1)},"version":${version}}`,
  );
  const text = JSON.stringify(JSON.stringify(position));
  return jsonLines('contacts', [...lines, `{"version":${version},"is_deleted":1,"position":${text}}`]);
}

/** Rows that hide contacts, whatever is written about them later. */
export const hiddenLines = (organizationId: string, contactIds: readonly string[]): Rows =>
  jsonLines(
    'contacts',
    contactIds.map((contactId) => absentLine(organizationId, contactId, HIDDEN)),
  );

export const audienceLines = (audiences: readonly string[]): Rows =>
  jsonLines(
    'audiences',
    audiences.map((line) => {
      const { id, ...audience } = JSON.parse(line) as Record<string, unknown>;
      return JSON.stringify({ ...audience, audience_id: id });
    }),
  );

/** Number of the partition of a delivery: its month. */
export const partitionOfDelivery = ({ date }: DeliveryRecord): number =>
  Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7));

/** Number of the partition of a visit: the UTC month of its row, or -1 for visits that are not stored by month. */
export function partitionOfVisit({ createdAt }: VisitRecord): number {
  const stored = monthOfVisit(parseTimestamp(createdAt));
  return stored.kind === 'month' ? stored.month : -1;
}

/** Divides records into parts of at most `maxMonths` partitions each. Returns the records unchanged if one part contains all of them. */
export function splitByMonths<T>(
  records: readonly OrderedRecord<T>[],
  partitionOf: (record: T) => number,
  maxMonths: number,
): (readonly OrderedRecord<T>[])[] {
  const byMonth = new Map<number, OrderedRecord<T>[]>();
  for (const record of records) {
    const month = partitionOf(record.record);
    const others = byMonth.get(month);
    if (others) others.push(record);
    else byMonth.set(month, [record]);
  }
  if (byMonth.size <= maxMonths) return records.length === 0 ? [] : [records];
  const months = [...byMonth].sort(([one], [other]) => one - other);
  const parts: OrderedRecord<T>[][] = [];
  for (let first = 0; first < months.length; first += maxMonths) {
    parts.push(months.slice(first, first + maxMonths).flatMap(([, ofMonth]) => ofMonth));
  }
  return parts;
}
