/** Builds the statements for stored records of the advertising streams. The functions have no side effects. */
import { checkedIdentifier, type Sql, sql } from '../shared/sql.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { campaignAttributes, companyAttributes, creativeAttributes } from './attributes.js';
import { SUMMED_NAMES } from './metrics.js';
import { IN_ORGANIZATION, joinLines, list } from './sql.js';

/** The last record of the previous page, after which a page begins. */
export interface RecordPosition {
  /** Day of the record as `YYYY-MM-DD`; a fixed day for streams without days. */
  date: string;
  /** Parts of the record's key other than the day. */
  ids: readonly string[];
}

/** A position before all records. */
export const BEFORE_ALL: RecordPosition = { date: '1970-01-01', ids: [] };

/** A stored row. `version` is its record order. */
export type RecordRow = { version: string } & Record<string, string | number | null>;

const ENTITIES = {
  'network-a-campaigns': { table: sql`campaigns`, fields: ['id', ...Object.keys(campaignAttributes)] },
  'network-a-creatives': {
    table: sql`creatives`,
    fields: ['id', 'campaign_id', ...Object.keys(creativeAttributes)],
  },
  'network-a-companies': { table: sql`companies`, fields: ['id', ...Object.keys(companyAttributes)] },
} as const;

const DELIVERY_KEY = ['campaign_id', 'creative_id', 'company_id'] as const;
const DELIVERY_FIELDS = ['date', ...DELIVERY_KEY, ...SUMMED_NAMES];

/** Fields of the records of each stream, in order, other than organization and time. */
export const RECORD_FIELDS = {
  'network-a-campaigns': ENTITIES['network-a-campaigns'].fields,
  'network-a-creatives': ENTITIES['network-a-creatives'].fields,
  'network-a-companies': ENTITIES['network-a-companies'].fields,
  'network-a-deliveries': DELIVERY_FIELDS,
  'currency-rates': ['date', 'currency', 'per_eur'],
} as const satisfies Record<string, readonly string[]>;
export type RecordStream = keyof typeof RECORD_FIELDS;
export const RECORD_STREAMS = Object.keys(RECORD_FIELDS) as RecordStream[];

/** Fields that identify a record of each stream, other than the day. */
export const KEYS: Readonly<Record<RecordStream, readonly string[]>> = {
  'network-a-campaigns': ['id'],
  'network-a-creatives': ['id'],
  'network-a-companies': ['id'],
  'network-a-deliveries': DELIVERY_KEY,
  'currency-rates': ['currency'],
};

const VERSION = sql`toString(version) AS version`;

/** Deliveries with a creative, and other deliveries with a company: a delivery with both is in both tables. */
const DELIVERY_TABLES: readonly { table: Sql; condition: Sql }[] = [
  { table: sql`creative_deliveries`, condition: sql`campaign_id != ''` },
  { table: sql`company_deliveries`, condition: sql`company_id != '' AND creative_id = ''` },
];

const idParams = (ids: readonly string[]) =>
  Object.fromEntries(DELIVERY_KEY.map((name, index) => [`after_${name}`, ids[index] ?? '']));

/** The records of a stream other than deliveries after a position, in the order of their keys. */
export function recordsQuery(
  stream: Exclude<RecordStream, 'network-a-deliveries'>,
  organizationId: string,
  { date, ids: [id = ''] }: RecordPosition,
  limit: number,
): AnalyticsQuery {
  const params = { organization_id: organizationId, after_id: id, limit };
  if (stream === 'currency-rates') {
    return {
      name: 'currency_rates_records',
      sql: joinLines(
        sql`SELECT toString(date) AS day, currency, per_eur, ${VERSION} FROM currency_rates FINAL`,
        sql`WHERE ${IN_ORGANIZATION} AND (date, currency) > ({after_date:Date}, {after_id:String})`,
        sql`ORDER BY date, currency LIMIT {limit:UInt32}`,
      ),
      params: { ...params, after_date: date },
    };
  }
  const { table, fields } = ENTITIES[stream];
  return {
    name: 'entity_records',
    sql: joinLines(
      sql`SELECT ${list([...fields.map(checkedIdentifier), VERSION])} FROM ${table} FINAL`,
      sql`WHERE ${IN_ORGANIZATION} AND id > {after_id:String} ORDER BY id LIMIT {limit:UInt32}`,
    ),
    params,
  };
}

/** Number of stored records of a stream. */
export function recordCountQuery(stream: RecordStream, organizationId: string): AnalyticsQuery {
  const tables =
    stream === 'network-a-deliveries'
      ? DELIVERY_TABLES
      : [
          {
            table: stream === 'currency-rates' ? sql`currency_rates` : ENTITIES[stream].table,
            condition: sql`true`,
          },
        ];
  const counts = tables.map(
    ({ table, condition }) =>
      sql`(SELECT count() FROM ${table} FINAL WHERE ${IN_ORGANIZATION} AND ${condition})`,
  );
  return {
    name: 'record_counts',
    sql: sql`SELECT ${counts.length === 1 ? (counts[0] as Sql) : sql`${counts[0] as Sql} + ${counts[1] as Sql}`} AS records`,
    params: { organization_id: organizationId },
  };
}

/** Days with deliveries from the given day on, with the number of rows inserted for each day. */
export const deliveryDaysQuery = (organizationId: string, from: string, limit: number): AnalyticsQuery => ({
  name: 'delivery_days',
  sql: joinLines(
    sql`SELECT toString(date) AS day, sum(creative_rows + company_rows) AS inserted FROM delivery_days`,
    sql`WHERE ${IN_ORGANIZATION} AND date >= {after_date:Date} GROUP BY date ORDER BY date LIMIT {limit:UInt32}`,
  ),
  params: { organization_id: organizationId, after_date: from, limit },
});

/** The deliveries after a position, up to a day, in the order of their keys. */
export function deliveryRecordsQuery(
  organizationId: string,
  { date, ids }: RecordPosition,
  lastDay: string,
  limit: number,
): AnalyticsQuery {
  const key = list(['date', ...DELIVERY_KEY].map(checkedIdentifier));
  const columns = list([...DELIVERY_FIELDS, 'version'].map(checkedIdentifier));
  const parts = DELIVERY_TABLES.map(({ table, condition }) =>
    joinLines(
      sql`SELECT ${columns} FROM ${table} FINAL`,
      sql`WHERE ${IN_ORGANIZATION} AND date BETWEEN {after_date:Date} AND {last_day:Date} AND ${condition}`,
      sql`AND (${key}) > ({after_date:Date}, {after_campaign_id:String}, {after_creative_id:String}, {after_company_id:String})`,
    ),
  ) as [Sql, Sql];
  return {
    name: 'delivery_records',
    sql: joinLines(
      sql`SELECT ${list([sql`toString(date) AS day`, ...[...DELIVERY_KEY, ...SUMMED_NAMES].map(checkedIdentifier), VERSION])} FROM (`,
      parts[0],
      sql`UNION ALL`,
      parts[1],
      sql`) ORDER BY ${key} LIMIT {limit:UInt32}`,
    ),
    params: {
      organization_id: organizationId,
      after_date: date,
      last_day: lastDay,
      limit,
      ...idParams(ids),
    },
  };
}
