import type { AnalyticsReader } from '../advertising/analytics-store.js';
import { IN_ORGANIZATION } from '../advertising/sql.js';
import { acceptedMsSql } from '../shared/record-order.js';
import { identifier, type Sql, sql } from '../shared/sql.js';
import type { StreamCounts } from './status-store.js';

type Reader = (
  analytics: AnalyticsReader,
  organizationId: string,
  signal?: AbortSignal,
) => Promise<StreamCounts>;

const NONE = { records: 0, lastAcceptedAt: null };

/** `lastDate`: `YYYY-MM-DD`. */
export type DeliveryCounts = StreamCounts & { lastDate: string | null };

/** Up to this number of inserted rows of an organization, its deliveries are counted exactly. */
const EXACT_ROWS = 200_000;

/** SQL for the time of acceptance, which is part of the digits of `recordOrder`. */
const ACCEPTED_MS = acceptedMsSql(sql`version`);
const COUNTS = sql`count() AS records, maxOrNull(${ACCEPTED_MS}) AS accepted_ms`;

interface Counts {
  records: number;
  accepted_ms: number | null;
}

async function readOne<Row>(
  analytics: AnalyticsReader,
  organization_id: string,
  statement: Sql,
  signal?: AbortSignal,
): Promise<Row> {
  const { rows } = await analytics.query<Row>(
    { name: 'stream_counts', sql: statement, params: { organization_id } },
    signal,
  );
  return rows[0] as Row;
}

const readEntities =
  (table: 'campaigns' | 'creatives' | 'companies' | 'currency_rates'): Reader =>
  async (analytics, organizationId, signal) => {
    if (analytics.isEmpty) return NONE;
    const statement = sql`SELECT ${COUNTS} FROM ${identifier(table)} FINAL WHERE ${IN_ORGANIZATION}`;
    const { records, accepted_ms } = await readOne<Counts>(analytics, organizationId, statement, signal);
    return { records, lastAcceptedAt: accepted_ms };
  };

/** A delivery with both a creative and a company is in both tables, but counts once. */
const EXACT = sql`SELECT ${COUNTS} FROM (
  SELECT version FROM creative_deliveries FINAL WHERE ${IN_ORGANIZATION} AND campaign_id != ''
  UNION ALL
  SELECT version FROM company_deliveries FINAL WHERE ${IN_ORGANIZATION} AND company_id != '' AND creative_id = ''
)`;

/** Reads only the ends of the organization's rows in each part; the primary index counts the rest. */
const STORED = sql`SELECT
  (SELECT count() FROM creative_deliveries WHERE ${IN_ORGANIZATION}) + (SELECT count() FROM company_deliveries WHERE ${IN_ORGANIZATION}) AS records`;

/**
 * Counts deliveries exactly. If more than `exactRows` were inserted, counts stored rows instead, and returns the last insert as the last
 * acceptance.
 */
export async function readDeliveryCounts(
  analytics: AnalyticsReader,
  organizationId: string,
  signal?: AbortSignal,
  exactRows = EXACT_ROWS,
): Promise<DeliveryCounts> {
  if (analytics.isEmpty) return { ...NONE, lastDate: null };
  const { inserted, inserted_ms, last_date } = await readOne<{
    inserted: number;
    inserted_ms: number;
    last_date: string | null;
  }>(
    analytics,
    organizationId,
    sql`SELECT sum(creative_rows + company_rows) AS inserted, toUnixTimestamp(max(touched_at)) * 1000 AS inserted_ms, maxOrNull(date) AS last_date
FROM delivery_days WHERE ${IN_ORGANIZATION}`,
    signal,
  );
  const isExact = inserted <= exactRows;
  const counts = await readOne<Counts>(analytics, organizationId, isExact ? EXACT : STORED, signal);
  return {
    records: counts.records,
    ...(!isExact && { isApproximate: true }),
    lastAcceptedAt: isExact ? counts.accepted_ms : inserted_ms,
    lastDate: last_date,
  };
}

/** One statement per stream, so that streams fail independently. */
export const readAdvertisingCounts = {
  campaigns: readEntities('campaigns'),
  creatives: readEntities('creatives'),
  companies: readEntities('companies'),
  currencyRates: readEntities('currency_rates'),
  deliveries: readDeliveryCounts,
};
