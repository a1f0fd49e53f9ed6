/** Sums of whole months that stand for their deliveries (decision 0014). Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { type DateRange, lastOfMonth, periodsOf } from './calendar.js';
import { COMPANY_METRIC_NAMES, SUMMED_METRICS, SUMMED_NAMES, type SummedMetric } from './metrics.js';
import type { ReportParams } from './report-params.js';
import { IN_ORGANIZATION, IN_RANGE, type QueryParams, where } from './sql.js';

/** A breakdown of deliveries: its table, the sums of its months, and what they are by. */
interface Source {
  table: 'creative_deliveries' | 'company_deliveries';
  months: 'creative_months' | 'company_months';
  /** The first is empty in a mark. */
  ids: readonly string[];
  metrics: readonly SummedMetric[];
  /** Aggregates of deliveries other than sums, by column of the sums. */
  aggregates: Readonly<Record<string, string>>;
}

export const SOURCES = {
  creative: {
    table: 'creative_deliveries',
    months: 'creative_months',
    ids: ['campaign_id', 'creative_id'],
    metrics: SUMMED_NAMES,
    aggregates: {},
  },
  company: {
    table: 'company_deliveries',
    months: 'company_months',
    ids: ['company_id'],
    metrics: SUMMED_NAMES.filter((name) => COMPANY_METRIC_NAMES.includes(name)),
    aggregates: {
      first_seen: 'minIf(date, delivery.active)',
      last_seen: 'maxIf(date, delivery.active)',
      active: 'max(delivery.active)',
    },
  },
} as const satisfies Record<string, Source>;
export type SourceName = keyof typeof SOURCES;

const isMoney = (metric: SummedMetric) => SUMMED_METRICS[metric].kind === 'money';

/** Deliveries of a range as the table `delivery`, with sums in place of the deliveries of sealed months. */
export interface DeliverySource {
  /** A FROM clause, with its conditions. */
  from: string;
  params: QueryParams;
  /** Whether some rows are sums: of companies, `first_seen` and `last_seen` take the place of `date` then. */
  isSummed: boolean;
}

export function deliverySource(
  name: SourceName,
  { range, sealed = [] }: Pick<ReportParams, 'range' | 'sealed'>,
  metrics: readonly SummedMetric[],
  conditions: readonly (string | false | undefined)[],
): DeliverySource {
  const { table, months, ids, aggregates }: Source = SOURCES[name];
  const used = sealed.filter(({ month }) => month >= range.start && lastOfMonth(month) <= range.end);
  if (used.length === 0) {
    const from = `FROM ${table} AS delivery FINAL\n${where(IN_ORGANIZATION, IN_RANGE, ...conditions)}`;
    return { from, params: {}, isSummed: false };
  }
  const others = Object.keys(aggregates);
  const raw = [
    'date',
    ...ids,
    ...metrics.map((metric) => (isMoney(metric) ? `toDecimal256(${metric}, 12) AS ${metric}` : metric)),
    ...others.map((column) => (column === 'active' ? column : `date AS ${column}`)),
  ];
  const from = `FROM (
  SELECT ${raw.join(', ')} FROM ${table} FINAL
  ${where(IN_ORGANIZATION, IN_RANGE, 'toStartOfMonth(date) NOT IN {summed_months:Array(Date)}', ...conditions)}
  UNION ALL
  SELECT ${['month AS date', ...ids, ...metrics, ...others].join(', ')} FROM ${months}
  ${where(IN_ORGANIZATION, 'month IN {summed_months:Array(Date)}', 'build IN {builds:Array(String)}', ...conditions)}
) AS delivery`;
  const params = {
    summed_months: used.map(({ month }) => month),
    builds: used.map(({ build }) => build),
  };
  return { from, params, isSummed: true };
}

/** First days of the months that lie in a range from their first day to their last. */
export const wholeMonths = (range: DateRange): string[] =>
  periodsOf(range, 'monthly').flatMap(({ start, end }) =>
    start.endsWith('-01') && end === lastOfMonth(start) ? [start] : [],
  );

/** The mark of the deliveries of each month: another one after every insert. */
const marks = ({ table, ids }: Source, months: string) =>
  `SELECT date AS month, mark FROM ${table} FINAL WHERE ${IN_ORGANIZATION} AND ${ids[0]} = '' AND date IN {${months}:Array(Date)}`;

/** Those of some months whose sums were made from the deliveries of now: sums are kept an hour longer than they are used. */
export function sealedMonthsQuery(
  organizationId: string,
  name: SourceName,
  months: readonly string[],
): AnalyticsQuery {
  return {
    name: `${name}_sealed_months`,
    sql: `SELECT rollup.month AS month, rollup.build AS build
FROM (
  SELECT month, build, mark FROM rollups FINAL
  WHERE ${IN_ORGANIZATION} AND source = '${name}' AND month IN {months:Array(Date)} AND expires_at > now() + 3600
) AS rollup
INNER JOIN (${marks(SOURCES[name], 'months')}) AS marked ON marked.month = rollup.month AND marked.mark = rollup.mark
ORDER BY month`,
    params: { organization_id: organizationId, months },
  };
}

/** Texts are literals of SQL. */
interface BuildParams {
  organization: string;
  month: string;
  build: string;
  /** When the build began, by the clock of the store: seconds since the epoch. */
  readAt: number;
  lifetimeSeconds: number;
}

/** Statements that sum a month of an organization, then seal it with the mark that was read together with its deliveries. */
export function buildStatements(
  name: SourceName,
  { organization, month, build, readAt, lifetimeSeconds }: BuildParams,
): string[] {
  const { table, months, ids, metrics, aggregates } = SOURCES[name];
  const columns = [
    'organization_id',
    'month',
    'build',
    ...ids,
    ...metrics,
    ...Object.keys(aggregates),
    'mark',
    'expires_at',
  ];
  const sums = metrics.map((metric) =>
    isMoney(metric) ? `sum(toDecimal256(delivery.${metric}, 12))` : `sum(delivery.${metric})`,
  );
  const key = `organization_id = ${organization} AND month = ${month} AND build = ${build}`;
  return [
    `INSERT INTO ${months} (${columns.join(', ')})
SELECT ${[organization, `toDate(${month})`, build, ...ids, ...sums, ...Object.values(aggregates), 'max(delivery.mark)', `now() + ${lifetimeSeconds}`].join(', ')}
FROM ${table} AS delivery FINAL
WHERE organization_id = ${organization} AND date BETWEEN toDate(${month}) AND toLastDayOfMonth(toDate(${month}))
GROUP BY ${ids.join(', ')}`,
    `INSERT INTO rollups (organization_id, source, month, build, mark, built_at, expires_at)
SELECT ${organization}, '${name}', toDate(${month}), ${build}, max(mark), toDateTime(${readAt}), now() + ${lifetimeSeconds}
FROM ${months} WHERE ${key} AND ${ids[0]} = ''`,
  ];
}
