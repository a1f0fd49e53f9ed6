/** Builds the statements for requests about companies. The functions have no side effects. */
import { checkedIdentifier, EMPTY_SQL, identifier, type Sql, sql } from '../shared/sql.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { companyAttributes } from './attributes.js';
import { requiredSums } from './metric-values.js';
import { COMPANY_METRIC_NAMES, type SummedMetric } from './metrics.js';
import type { Filters, ListParams, Page, ReportParams } from './report-params.js';
import type { CompanySort } from './requests.js';
import { type DeliverySource, deliverySource, type SourceName } from './rollups.js';
import { type MetricRows, metricsQuery } from './series.js';
import {
  containsAny,
  IN_ORGANIZATION,
  inList,
  joinLines,
  list,
  metricKey,
  metricOf,
  orderAndPage,
  pageParams,
  sumColumns,
  where,
  withoutAccents,
} from './sql.js';

const SORT_KEYS: Record<CompanySort, Sql> = {
  name: withoutAccents(sql`company.name_key`),
  impressions: metricKey('impressions'),
  clicks: metricKey('clicks'),
  engagements: metricKey('engagements'),
  engagement_rate: metricKey('engagement_rate'),
  campaigns_reached: metricOf('campaigns_reached'),
  campaigns_engaged: metricOf('campaigns_engaged'),
};

const COLUMNS = list(Object.keys(companyAttributes).map(checkedIdentifier));

const COMPANY_RECORDS = sql`(SELECT * FROM companies FINAL WHERE ${IN_ORGANIZATION})`;

/** First and last day with activity. If `active` is false, there was no activity, and both days are meaningless. */
const ACTIVITY = [
  sql`minIf(date, delivery.active) AS first_seen`,
  sql`maxIf(date, delivery.active) AS last_seen`,
  sql`max(delivery.active) AS active`,
];

/** The metric that a campaign must have to be counted. */
const REACHED_BY = { campaigns_reached: 'impressions', campaigns_engaged: 'engagements' } as const;
const countCampaigns = (metric: SummedMetric) =>
  sql`uniqExactIf(campaign_id, delivery.${identifier(metric)} > 0)`;
const REACH = {
  campaigns_reached: countCampaigns(REACHED_BY.campaigns_reached),
  campaigns_engaged: countCampaigns(REACHED_BY.campaigns_engaged),
};
const SUMMED_REACH = {
  campaigns_reached: sql`uniqExactArray(delivery.reached)`,
  campaigns_engaged: sql`uniqExactArray(delivery.engaged)`,
};
const REACH_NAMES = ['campaigns_reached', 'campaigns_engaged'] as const;

/** With a filter by campaigns, sums must be per campaign. */
export const companySource = ({ campaign_ids }: Pick<Filters, 'campaign_ids'>): SourceName =>
  campaign_ids ? 'campaign_company' : 'company';

const reachOf = (source: SourceName, isSummed: boolean) =>
  isSummed && source === 'company' ? SUMMED_REACH : REACH;

const companyReach = (source: SourceName) => (isSummed: boolean) => {
  const [first, last] = isSummed
    ? ([sql`delivery.first_seen`, sql`delivery.last_seen`] as const)
    : ([sql`date`, sql`date`] as const);
  return {
    ...reachOf(source, isSummed),
    first_seen: sql`if(max(delivery.active), minIf(${first}, delivery.active), NULL)`,
    last_seen: sql`if(max(delivery.active), maxIf(${last}, delivery.active), NULL)`,
  };
};

/** The records of companies that filters match; undefined if no filter concerns records. */
function matchingRecords({ network_a_company_ids, domains, search }: Filters): Sql | undefined {
  const conditions = [
    inList(sql`network_a_company_id`, 'network_a_company_ids', network_a_company_ids),
    inList(sql`domain`, 'domains', domains),
    containsAny([sql`name_key`, sql`domain_key`], search),
  ].filter((condition) => condition !== undefined);
  if (conditions.length === 0) return undefined;
  return sql`SELECT id FROM companies FINAL ${where(IN_ORGANIZATION, ...conditions)}`;
}

/** The deliveries of all matching companies. */
function deliveriesOf(report: ReportParams, filters: Filters, sums: readonly SummedMetric[]): DeliverySource {
  const { campaign_ids, company_ids } = filters;
  const records = matchingRecords(filters);
  return deliverySource(companySource(filters), report, sums, [
    inList(sql`campaign_id`, 'campaign_ids', campaign_ids),
    inList(sql`company_id`, 'company_ids', company_ids),
    records && sql`company_id IN (${records})`,
  ]);
}

/** Companies that a request names. Includes companies that only deliveries name, unless the request filters by an attribute. */
function namedCompanies(filters: Filters): Sql {
  const records = matchingRecords(filters);
  const ofIds = (column: Sql) => inList(column, 'company_ids', filters.company_ids);
  if (records) return sql`SELECT id FROM (${records}) ${where(ofIds(sql`id`))}`;
  return sql`SELECT id FROM companies ${where(IN_ORGANIZATION, ofIds(sql`id`))}
  UNION DISTINCT SELECT company_id FROM company_deliveries ${where(IN_ORGANIZATION, ofIds(sql`company_id`))}`;
}

/**
 * One page of companies, and the number of matches. Sums only the metric of the order over all companies; a later statement reads the
 * metrics of the page.
 */
export function companiesQuery({ report, filters, sort, page }: ListParams<CompanySort>): AnalyticsQuery {
  const sums = requiredSums(COMPANY_METRIC_NAMES.filter((metric) => metric === sort.by));
  // Counting campaigns for every company takes longer than everything else, so campaigns are counted only to order by the count.
  const reach = REACH_NAMES.filter((name) => name === sort.by);
  const isNamed = Boolean(filters.company_ids ?? filters.network_a_company_ids ?? filters.domains);
  const id = isNamed ? sql`known.id` : sql`metrics.company_id`;
  const byName = sort.by === 'name';
  const delivery = deliveriesOf(report, filters, [...sums, ...reach.map((name) => REACHED_BY[name])]);
  const aggregates = [
    ...sumColumns(sums),
    sql`max(delivery.active) AS active`,
    ...reach.map(
      (name) => sql`${reachOf(companySource(filters), delivery.isSummed)[name]} AS ${identifier(name)}`,
    ),
  ];
  const metrics = sql`(
  SELECT company_id, ${list(aggregates)}
  ${delivery.from}
  GROUP BY company_id
) AS metrics`;
  return {
    name: 'companies_page',
    sql: joinLines(
      sql`SELECT ${id} AS id`,
      isNamed
        ? sql`FROM (${namedCompanies(filters)}) AS known\nLEFT JOIN ${metrics} ON metrics.company_id = known.id`
        : sql`FROM ${metrics}`,
      byName ? sql`LEFT JOIN ${COMPANY_RECORDS} AS company ON company.id = ${id}` : EMPTY_SQL,
      // A request that names no companies lists companies with activity.
      isNamed ? EMPTY_SQL : sql`WHERE metrics.active`,
      orderAndPage(SORT_KEYS[sort.by], sort.descending),
    ),
    params: {
      organization_id: report.organizationId,
      ...filters,
      ...pageParams(page),
      ...delivery.params,
    },
  };
}

/** The sums of all matches, in one row. A matching company without activity adds nothing. */
export function companyTotalsQuery(report: ReportParams, filters: Filters): AnalyticsQuery {
  const sums = requiredSums(report.metrics);
  const delivery = deliveriesOf(report, filters, sums);
  return {
    name: 'companies_totals',
    sql: joinLines(sql`SELECT ${list(sumColumns(sums))}`, delivery.from),
    params: { organization_id: report.organizationId, ...filters, ...delivery.params },
  };
}

/** The metrics of some companies, their reach, and their days of activity. */
export const companyMetricsQuery = (
  report: ReportParams,
  ids: readonly string[],
  campaign_ids: string[] | undefined,
  rows: MetricRows,
): AnalyticsQuery => {
  const source = companySource({ campaign_ids });
  return metricsQuery(
    {
      name: 'companies_figures',
      by: 'company_id',
      source,
      others: companyReach(source),
      reads: Object.values(REACHED_BY),
      conditions: [
        inList(sql`company_id`, 'ids', ids),
        inList(sql`campaign_id`, 'campaign_ids', campaign_ids),
      ],
      params: { ...(campaign_ids && { campaign_ids }) },
    },
    report,
    ids,
    rows,
  );
};

/** The attributes of some companies. Companies without a record have no row. */
export function companyAttributesQuery(organizationId: string, ids: readonly string[]): AnalyticsQuery {
  return {
    name: 'companies_attributes',
    sql: sql`SELECT id, ${COLUMNS} FROM companies FINAL\n${where(IN_ORGANIZATION, inList(sql`id`, 'ids', ids))}`,
    params: { organization_id: organizationId, ids },
  };
}

/** The campaigns that one company saw, with their number, ordered by engagements, then impressions, then id. */
export function companyCampaignsQuery(
  report: ReportParams,
  id: string,
  campaign_ids: string[] | undefined,
  page: Page,
): AnalyticsQuery {
  const names = requiredSums([...report.metrics, 'engagements', 'impressions']);
  const delivery = deliverySource('company', report, names, [
    sql`company_id = {company_id:String}`,
    inList(sql`campaign_id`, 'campaign_ids', campaign_ids),
  ]);
  return {
    name: 'company_campaigns',
    sql: joinLines(
      sql`SELECT metrics.*, campaign.name AS name, campaign.status AS status, campaign.objective_type AS objective_type`,
      sql`FROM (
  SELECT ${list([sql`campaign_id`, ...sumColumns(names), ...ACTIVITY])}
  ${delivery.from}
  GROUP BY campaign_id
  HAVING active
) AS metrics`,
      sql`LEFT JOIN (SELECT id, name, status, objective_type FROM campaigns FINAL WHERE ${IN_ORGANIZATION}) AS campaign ON campaign.id = metrics.campaign_id`,
      sql`ORDER BY engagements DESC, impressions DESC, campaign_id ASC`,
      sql`LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
    ),
    params: {
      organization_id: report.organizationId,
      ...delivery.params,
      ...pageParams(page),
      company_id: id,
      ...(campaign_ids && { campaign_ids }),
    },
  };
}

/** Whether a delivery names a company. */
export const companyNameQuery = (organizationId: string, id: string): AnalyticsQuery => ({
  name: 'company_name',
  sql: sql`SELECT 1 FROM company_deliveries WHERE ${IN_ORGANIZATION} AND company_id = {id:String} LIMIT 1`,
  params: { organization_id: organizationId, id },
});

/** Companies with a domain or a network_a id, ordered by id, at most `limit`. */
export function companiesOfQuery(
  organizationId: string,
  column: 'domain' | 'network_a_company_id',
  value: string,
  limit: number,
): AnalyticsQuery {
  const condition = sql`${identifier(column)} = {value:String}`;
  return {
    name: `companies_by_${column}`,
    sql: joinLines(
      sql`SELECT id, ${COLUMNS} FROM companies FINAL`,
      // Reads all columns only for companies that have ever had the value.
      sql`PREWHERE ${IN_ORGANIZATION} AND id IN (SELECT id FROM companies WHERE ${IN_ORGANIZATION} AND ${condition})`,
      sql`WHERE ${condition}`,
      sql`ORDER BY id LIMIT {limit:UInt32}`,
    ),
    params: { organization_id: organizationId, value, limit },
  };
}
