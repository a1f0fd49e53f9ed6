/** Sums of whole months that replace the deliveries of these months (decision 0014). The functions have no side effects. */
import { checkedIdentifier, identifier, type Sql, sql, textLiteral } from '../shared/sql.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { countPeriods, type DateRange, lastOfMonth, periodsOf } from './calendar.js';
import { COMPANY_METRIC_NAMES, isMoney, SUMMED_NAMES, type SummedMetric } from './metrics.js';
import type { ReportParams } from './report-params.js';
import { IN_ORGANIZATION, IN_RANGE, list, type QueryParams, rangeParams, where } from './sql.js';

/** A breakdown of deliveries: its table, its monthly sums, and its grouping columns. */
interface Source {
  table: 'creative_deliveries' | 'company_deliveries';
  /** Column in `delivery_days` that counts the rows of this table. */
  rows: 'creative_rows' | 'company_rows';
  months: 'creative_months' | 'company_months' | 'campaign_company_months';
  /** Grouping columns. The first of them is empty in a mark. */
  ids: readonly ('campaign_id' | 'creative_id' | 'company_id')[];
  metrics: readonly SummedMetric[];
  /** Columns of the sums other than metrics: the expression for one delivery, and the aggregate. */
  others: Readonly<Record<string, { one: Sql; all: Sql }>>;
}

/** Set of the campaigns with a metric, sorted, because that takes fewer bytes. */
const campaignsWith = (metric: SummedMetric) => ({
  one: sql`if(${identifier(metric)} > 0, [campaign_id], [])`,
  all: sql`arraySort(groupUniqArrayIf(campaign_id, delivery.${identifier(metric)} > 0))`,
});

const COMPANY_SUMS = SUMMED_NAMES.filter((name) => COMPANY_METRIC_NAMES.includes(name));
const ACTIVITY = {
  first_seen: { one: sql`date`, all: sql`minIf(date, delivery.active)` },
  last_seen: { one: sql`date`, all: sql`maxIf(date, delivery.active)` },
  active: { one: sql`active`, all: sql`max(delivery.active)` },
};

export const SOURCES = {
  creative: {
    table: 'creative_deliveries',
    rows: 'creative_rows',
    months: 'creative_months',
    ids: ['campaign_id', 'creative_id'],
    metrics: SUMMED_NAMES,
    others: {},
  },
  company: {
    table: 'company_deliveries',
    rows: 'company_rows',
    months: 'company_months',
    ids: ['company_id'],
    metrics: COMPANY_SUMS,
    others: {
      ...ACTIVITY,
      reached: campaignsWith('impressions'),
      engaged: campaignsWith('engagements'),
    },
  },
  /** The companies of some campaigns, per campaign. */
  campaign_company: {
    table: 'company_deliveries',
    rows: 'company_rows',
    months: 'campaign_company_months',
    ids: ['campaign_id', 'company_id'],
    metrics: COMPANY_SUMS,
    others: ACTIVITY,
  },
} as const satisfies Record<string, Source>;
export type SourceName = keyof typeof SOURCES;

/** Deliveries of a range as the table `delivery`, with sums instead of the deliveries of sealed months. */
export interface DeliverySource {
  /** A FROM clause with its conditions on organization, range and other columns. */
  from: Sql;
  /** All parameters except the organization and the parameters of the given conditions. */
  params: QueryParams;
  /**
   * Whether some rows are sums. In sums by company, `first_seen` and `last_seen` replace the date, and `reached` and `engaged` replace the
   * campaign.
   */
  isSummed: boolean;
}

export function deliverySource(
  name: SourceName,
  { range, sealed = [] }: Pick<ReportParams, 'range' | 'sealed'>,
  metrics: readonly SummedMetric[],
  conditions: readonly (Sql | false | undefined)[],
): DeliverySource {
  const { table, months, ids, others }: Source = SOURCES[name];
  const deliveries = identifier(table);
  const sums = identifier(months);
  const used = sealed.filter(({ month }) => month >= range.start && lastOfMonth(month) <= range.end);
  const inRange = [IN_ORGANIZATION, IN_RANGE, ...conditions];
  // A build covers one month.
  const inBuilds = [
    IN_ORGANIZATION,
    sql`build IN CAST({builds:Array(String)}, 'Array(UInt64)')`,
    ...conditions,
  ];
  if (used.length === 0) {
    return {
      from: sql`FROM ${deliveries} AS delivery FINAL\n${where(...inRange)}`,
      params: rangeParams(range),
      isSummed: false,
    };
  }
  const builds = used.map(({ build }) => build);
  if (used.length === countPeriods(range, 'monthly')) {
    return { from: sql`FROM ${sums} AS delivery\n${where(...inBuilds)}`, params: { builds }, isSummed: true };
  }
  const columns = [sql`date`, ...ids.map(identifier), ...metrics.map(identifier)];
  const values = Object.entries(others).map(
    ([column, { one }]) => sql`${one} AS ${checkedIdentifier(column)}`,
  );
  const from = sql`FROM (
  SELECT ${list([...columns, ...values])} FROM ${deliveries} FINAL
  ${where(...inRange, sql`toStartOfMonth(date) NOT IN {summed_months:Array(Date)}`)}
  UNION ALL
  SELECT ${list([...columns, ...Object.keys(others).map(checkedIdentifier)])} FROM ${sums}
  ${where(...inBuilds)}
) AS delivery`;
  const summed_months = used.map(({ month }) => month);
  return { from, params: { ...rangeParams(range), summed_months, builds }, isSummed: true };
}

/** First days of the months that lie completely within a range. */
export const wholeMonths = (range: DateRange): string[] =>
  periodsOf(range, 'monthly').flatMap(({ start, end }) =>
    start.endsWith('-01') && end === lastOfMonth(start) ? [start] : [],
  );

/** The column that is empty in a mark. */
const firstOf = ([first = 'campaign_id']: Source['ids']) => identifier(first);

/** The mark of the deliveries of each month, which changes with every insert. */
const marks = ({ table, ids }: Source) =>
  sql`SELECT date, mark FROM ${identifier(table)} FINAL WHERE ${IN_ORGANIZATION} AND ${firstOf(ids)} = '' AND date IN {months:Array(Date)}`;

/** Months whose sums were made from the current deliveries. Sums are kept an hour longer than queries use them. */
export function sealedMonthsQuery(
  organizationId: string,
  name: SourceName,
  months: readonly string[],
): AnalyticsQuery {
  return {
    name: `${name}_sealed_months`,
    sql: sql`SELECT month, toString(build) AS build FROM rollups FINAL
WHERE ${IN_ORGANIZATION} AND source = ${textLiteral(name)} AND month IN {months:Array(Date)} AND expires_at > now() + 3600
  AND (month, mark) IN (${marks(SOURCES[name])})
ORDER BY month`,
    params: { organization_id: organizationId, months },
  };
}

/**
 * Settings that write small blocks: for a hundred thousand companies, the lists of campaigns that each company saw would exceed the memory
 * of a statement.
 */
const BUILD_SETTINGS = sql`optimize_aggregation_in_order = 1, max_threads = 1, max_block_size = 1024, min_insert_block_size_bytes = 33554432`;

interface BuildParams {
  organizationId: string;
  /** First day of the month. */
  month: string;
  build: bigint;
  /** When the build began, by the clock of the store, in seconds since the epoch. */
  readAt: number;
  lifetimeSeconds: number;
}

/** Statements that sum a month of an organization, then seal it with the mark that was read together with its deliveries. */
export function buildStatements(
  name: SourceName,
  { organizationId, month: firstDay, build, readAt, lifetimeSeconds }: BuildParams,
): Sql[] {
  const { table, months, ids, metrics, others }: Source = SOURCES[name];
  const organization = textLiteral(organizationId);
  const month = textLiteral(firstDay);
  const groups = ids.map(identifier);
  const columns = [
    sql`organization_id`,
    sql`date`,
    sql`build`,
    ...groups,
    ...metrics.map(identifier),
    ...Object.keys(others).map(checkedIdentifier),
    sql`mark`,
    sql`expires_at`,
  ];
  const sums = metrics.map((metric) =>
    isMoney(metric)
      ? sql`sum(toDecimal256(delivery.${identifier(metric)}, 12))`
      : sql`sum(delivery.${identifier(metric)})`,
  );
  const values = [
    organization,
    sql`toDate(${month})`,
    sql`${build}`,
    ...groups,
    ...sums,
    ...Object.values(others).map(({ all }) => all),
    sql`max(delivery.mark)`,
    sql`now() + ${lifetimeSeconds}`,
  ];
  const key = sql`organization_id = ${organization} AND date = ${month} AND build = ${build}`;
  return [
    sql`INSERT INTO ${identifier(months)} (${list(columns)})
SELECT ${list(values)}
FROM ${identifier(table)} AS delivery FINAL
WHERE organization_id = ${organization} AND date BETWEEN toDate(${month}) AND toLastDayOfMonth(toDate(${month}))
GROUP BY ${list(groups)}
SETTINGS ${BUILD_SETTINGS}`,
    sql`INSERT INTO rollups (organization_id, source, month, build, mark, built_at, expires_at)
SELECT ${organization}, ${textLiteral(name)}, toDate(${month}), ${build}, max(mark), toDateTime(${readAt}), now() + ${lifetimeSeconds}
FROM ${identifier(months)} WHERE ${key} AND ${firstOf(ids)} = ''`,
  ];
}
