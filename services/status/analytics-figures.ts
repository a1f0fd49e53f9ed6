import type { AnalyticsQuery, AnalyticsReader } from '../advertising/analytics-store.js';
import { IN_ORGANIZATION } from '../advertising/sql.js';
import { ACCEPTED_DIGITS, SEQUENCE_DIGITS } from '../shared/record-order.js';
import type { StreamFigures } from './status-store.js';

export interface AnalyticsFigures {
  campaigns: StreamFigures;
  creatives: StreamFigures;
  companies: StreamFigures;
  /** `lastDate`: `YYYY-MM-DD`. */
  deliveries: StreamFigures & { lastDate: string | null };
}

const ENTITIES = ['campaigns', 'creatives', 'companies'] as const;

interface Row {
  name: keyof AnalyticsFigures;
  records: number;
  accepted_ms: number | null;
  last_date: string | null;
}

/** The acceptance time within the digits of `recordOrder`. */
const ACCEPTED_MS = `toUInt64(intDiv(version, ${SEQUENCE_DIGITS}) % ${ACCEPTED_DIGITS})`;

/** A delivery that names both a creative and a company is in both tables. */
const ALL_DELIVERIES = `
  SELECT version, date FROM creative_deliveries FINAL WHERE ${IN_ORGANIZATION} AND campaign_id != ''
  UNION ALL
  SELECT version, date FROM company_deliveries FINAL WHERE ${IN_ORGANIZATION} AND company_id != '' AND creative_id = ''
`;

/** Figures of every advertising stream of an organization, in one statement. */
export function figuresQuery(organizationId: string): AnalyticsQuery {
  const select = (name: keyof AnalyticsFigures, lastDate: string, from: string) =>
    `SELECT '${name}' AS name, count() AS records, maxOrNull(${ACCEPTED_MS}) AS accepted_ms, ${lastDate} AS last_date
FROM ${from}`;
  const selects = [
    ...ENTITIES.map((table) => select(table, 'NULL', `${table} FINAL WHERE ${IN_ORGANIZATION}`)),
    select('deliveries', 'maxOrNull(date)', `(${ALL_DELIVERIES})`),
  ];
  return {
    name: 'stream_figures',
    sql: selects.join('\nUNION ALL\n'),
    params: { organization_id: organizationId },
  };
}

export async function readAnalyticsFigures(
  analytics: AnalyticsReader,
  organizationId: string,
  signal?: AbortSignal,
): Promise<AnalyticsFigures> {
  const { rows } = await analytics.query<Row>(figuresQuery(organizationId), signal);
  const figures = rows.map(({ name, records, accepted_ms, last_date }) => [
    name,
    { records, lastAcceptedAt: accepted_ms, lastDate: last_date },
  ]);
  return Object.fromEntries(figures) as AnalyticsFigures;
}
