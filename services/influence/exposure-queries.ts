/** Builds the statements that find when companies were exposed to ads. The functions have no side effects. */
import type { AnalyticsQuery } from '../advertising/analytics-store.js';
import { addDays } from '../advertising/calendar.js';
import {
  IN_ORGANIZATION,
  IN_RANGE,
  inList,
  joinLines,
  list,
  rangeParams,
  where,
} from '../advertising/sql.js';
import { SUMS, type Sums } from '../companies/queries.js';
import { identifier, type Sql, sql } from '../shared/sql.js';

export type ExposureMetric = keyof Sums;

export interface ExposureSearch {
  organizationId: string;
  /** Days on which exposure may begin. */
  range: { start: string; end: string };
  /** Days of the window whose sums must reach a threshold, including its last day. */
  lookbackDays: number;
  /** A window that reaches one of them is an exposure. */
  thresholds: Readonly<Partial<Sums>>;
  campaignIds?: string[];
}

/** A domain, and the first day on which its sums reach a threshold. */
export interface ExposureRow {
  /** Empty for companies without a domain, which share one row. */
  domain: string;
  exposed_on: string;
  /** Number of exposed companies without a domain in their shared row; 1 in any other row. */
  exposed: number;
  /** Impressions within the lookback days of `exposed_on`; 0 if the query does not count impressions. */
  impressions: number;
  name: string | null;
  company_ids: string[];
}

/** First day that counts into the sums of the range. */
export const firstReadDay = ({ range, lookbackDays }: Pick<ExposureSearch, 'range' | 'lookbackDays'>) =>
  addDays(range.start, 1 - lookbackDays);

const COMPANIES = sql`(SELECT id, domain, name FROM companies FINAL WHERE ${IN_ORGANIZATION})`;

/** Prefix of the keys of companies without a domain. No domain begins so. */
const NO_DOMAIN = sql`'\\0'`;

/** Companies by domain. The name is that of the company with most impressions in the range, then of the first by id. */
const NAMES = sql`(
  SELECT domain, arraySort(groupArray(id)) AS company_ids,
    argMinIf(name, (-toInt256(ifNull(shown.impressions, 0)), id), name IS NOT NULL) AS name
  FROM ${COMPANIES} AS company
  LEFT JOIN (
    SELECT company_id, sum(impressions) AS impressions FROM company_deliveries FINAL
    ${where(
      IN_ORGANIZATION,
      IN_RANGE,
      sql`company_id IN (SELECT arrayJoin(groupArray(id)) FROM ${COMPANIES} WHERE domain IS NOT NULL GROUP BY domain HAVING count() > 1)`,
    )}
    GROUP BY company_id
  ) AS shown ON shown.company_id = company.id
  WHERE domain IS NOT NULL
  GROUP BY domain
) AS named`;

/** Bits of the count in an event. */
const COUNT_BITS = 53;
const MAX_COUNT = 2n ** BigInt(COUNT_BITS) - 1n;
const countOf = (event: Sql) => sql`bitAnd(${event}, ${MAX_COUNT})`;
/** Number of days from the first read day. */
const dayOf = (event: Sql) => sql`bitShiftRight(${event}, ${COUNT_BITS + 1})`;
/** The smallest event of a day: 11 bits of the day and whether the count is added, then the count. */
const eventOn = (day: Sql, isAdded: 0 | 1) =>
  sql`bitShiftLeft(toUInt64(2 * (${day} - {start_date:Date}) + ${isAdded}), ${COUNT_BITS})`;

/**
 * Exposed domains, at most `limit`; sums are over all companies of a domain. Each delivery is an event that adds its count on its day, and an
 * event that takes the count away once the lookback days are over, so the running sum over the sorted events is the sum of each window. An
 * event is one integer, because arrays of integers take a tenth of the memory and time of windows over days.
 */
export function exposuresQuery(
  search: ExposureSearch,
  limit: number,
  countsImpressions: boolean,
): AnalyticsQuery {
  const { organizationId, range, lookbackDays, thresholds, campaignIds } = search;
  const limited = SUMS.filter((metric) => thresholds[metric] !== undefined);
  const read = SUMS.filter(
    (metric) => limited.includes(metric) || (countsImpressions && metric === 'impressions'),
  );
  const each = (metrics: readonly ExposureMetric[], column: (name: Sql) => Sql) =>
    list(metrics.map((metric) => column(identifier(metric))));
  // An added count of 0 on the first day, because the sum may reach the threshold without a delivery on that day.
  const events = (metric: Sql) =>
    sql`arraySort(arrayConcat(${metric}, arrayMap(event -> event + bitShiftLeft(toUInt64(${2 * lookbackDays - 1}), ${COUNT_BITS}), ${metric}), [${eventOn(sql`{first_day:Date}`, 1)}]))`;
  const first = (metric: ExposureMetric) =>
    sql`arrayFirst((event, total) -> event >= ${eventOn(sql`{first_day:Date}`, 0)} AND total >= {${identifier(`least_${metric}` as const)}:UInt64}, ${identifier(`${metric}_events` as const)}, arrayCumSum(arrayMap(event -> if(bitTest(event, ${COUNT_BITS}), 1, -1) * toInt64(${countOf(sql`event`)}), ${identifier(`${metric}_events` as const)})))`;
  const windowSum = sql`arraySum(event -> if(${dayOf(sql`event`)} <= day AND ${dayOf(sql`event`)} + ${lookbackDays} > day, ${countOf(sql`event`)}, 0), impressions)`;
  return {
    name: 'influence_exposures',
    sql: joinLines(
      sql`SELECT placed.domain AS domain, placed.exposed_on AS exposed_on, placed.exposed AS exposed, placed.impressions AS impressions,
  named.name AS name, named.company_ids AS company_ids
FROM (
  SELECT if(startsWith(key, ${NO_DOMAIN}), '', key) AS domain, count() AS exposed, {start_date:Date} + min(day) AS exposed_on, any(shown) AS impressions
  FROM (
    SELECT key, arrayMin(arrayMap(event -> ${dayOf(sql`event`)}, arrayFilter(event -> event > 0, firsts))) AS day,
      ${countsImpressions ? windowSum : sql`0`} AS shown
    FROM (
      SELECT *, [${list(limited.map(first))}] AS firsts
      FROM (
        SELECT *, ${list(limited.map((metric) => sql`${events(identifier(metric))} AS ${identifier(`${metric}_events` as const)}`))}
        FROM (
          SELECT ifNull(company.domain, concat(${NO_DOMAIN}, shown.company_id)) AS key, ${each(read, (name) => sql`groupArrayArray(shown.${name}) AS ${name}`)}
          FROM (
            SELECT company_id, ${each(read, (name) => sql`groupArrayIf(${eventOn(sql`date`, 1)} + least(delivery.${name}, ${MAX_COUNT}), delivery.${name} > 0) AS ${name}`)}
            FROM company_deliveries AS delivery FINAL
            ${where(IN_ORGANIZATION, IN_RANGE, sql`company_id != ''`, inList(sql`campaign_id`, 'campaign_ids', campaignIds))}
            GROUP BY company_id
          ) AS shown
          LEFT JOIN ${COMPANIES} AS company ON company.id = shown.company_id
          GROUP BY key
        )
      )
      WHERE arrayExists(event -> event > 0, firsts)
    )
  )
  GROUP BY domain
) AS placed
LEFT JOIN ${NAMES} ON named.domain = placed.domain
LIMIT {limit:UInt32}`,
      // Each row has arrays over a year. So blocks have few rows, and the arrays of one company are completed before those of the next
      // begin.
      sql`SETTINGS max_block_size = 4096, optimize_aggregation_in_order = 1`,
    ),
    params: {
      organization_id: organizationId,
      ...rangeParams({ start: firstReadDay(search), end: range.end }),
      first_day: String(rangeParams(range).start_date),
      limit,
      ...(campaignIds && { campaign_ids: campaignIds }),
      ...Object.fromEntries(
        Object.entries(thresholds).map(([metric, least]): [string, number] => [`least_${metric}`, least]),
      ),
    },
  };
}

/** Sums of a campaign in the window of a domain, and the sums of all its campaigns as `all_…`. */
export interface CampaignRow extends Sums, Record<`all_${ExposureMetric}`, number> {
  domain: string;
  campaign_id: string;
  name: string | null;
}

/** The campaigns in the windows of domains that end on their days of exposure: for each domain, those with most impressions. */
export function campaignsQuery(
  { organizationId, range, lookbackDays, campaignIds, ...rest }: ExposureSearch,
  exposures: readonly Pick<ExposureRow, 'domain' | 'exposed_on'>[],
  campaignsPerDomain: number,
): AnalyticsQuery {
  const sums = SUMS.map((metric) => sql`sum(delivery.${identifier(metric)}) AS ${identifier(metric)}`);
  const allSums = SUMS.map(
    (metric) =>
      sql`sum(summed.${identifier(metric)}) OVER (PARTITION BY domain) AS ${identifier(`all_${metric}` as const)}`,
  );
  return {
    name: 'influence_campaigns',
    sql: sql`SELECT metrics.*, campaign.name AS name
FROM (
  SELECT *, ${list(allSums)} FROM (
  SELECT placed.domain AS domain, delivery.campaign_id AS campaign_id, ${list(sums)}
  FROM company_deliveries AS delivery FINAL
  INNER JOIN (
    SELECT company.id AS id, exposed.domain AS domain, exposed.day AS day
    FROM ${COMPANIES} AS company
    INNER JOIN (
      SELECT domain, toDate(day) AS day FROM (SELECT {domains:Array(String)} AS of, {days:Array(String)} AS days)
      ARRAY JOIN of AS domain, days AS day
    ) AS exposed ON exposed.domain = company.domain
  ) AS placed ON placed.id = delivery.company_id
  ${where(
    sql`delivery.${IN_ORGANIZATION}`,
    sql`delivery.${IN_RANGE}`,
    sql`delivery.company_id IN (SELECT id FROM ${COMPANIES} WHERE domain IN {domains:Array(String)})`,
    sql`delivery.date BETWEEN placed.day - ${lookbackDays - 1} AND placed.day`,
    inList(sql`delivery.campaign_id`, 'campaign_ids', campaignIds),
  )}
  GROUP BY domain, campaign_id
  HAVING impressions + clicks + engagements > 0
  ) AS summed
  ORDER BY domain, impressions DESC, campaign_id
  LIMIT {limit:UInt32} BY domain
) AS metrics
LEFT JOIN (SELECT id, name FROM campaigns FINAL WHERE ${IN_ORGANIZATION}) AS campaign ON campaign.id = metrics.campaign_id
ORDER BY domain, impressions DESC, campaign_id`,
    params: {
      organization_id: organizationId,
      ...rangeParams({ start: firstReadDay({ range, lookbackDays, ...rest }), end: range.end }),
      // A domain may have thousands of company records, and the embedded engine takes parameters up to 256 KiB: the statement finds the ids.
      domains: exposures.map(({ domain }) => domain),
      days: exposures.map(({ exposed_on }) => exposed_on),
      limit: campaignsPerDomain,
      ...(campaignIds && { campaign_ids: campaignIds }),
    },
  };
}
