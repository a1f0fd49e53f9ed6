/** Builds the statements for requests about campaigns and creatives. The functions have no side effects. */
import { EMPTY_SQL, identifier, type Sql, sql } from '../shared/sql.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { campaignAttributes, creativeAttributes } from './attributes.js';
import { type ConvertedReport, reportSource, usedRatesQuery } from './conversion.js';
import { requiredSums } from './metric-values.js';
import { isAmount, METRIC_NAMES, type Metric, type SummedMetric } from './metrics.js';
import type { Filters, ListParams, ReportParams } from './report-params.js';
import type { CampaignSort, CreativeSort } from './requests.js';
import { type MetricRows, metricsQuery } from './series.js';
import {
  asciiKey,
  columnsOf,
  containsAny,
  IN_ORGANIZATION,
  inList,
  joinLines,
  list,
  metricKey,
  orderAndPage,
  pageParams,
  sumColumns,
  totalColumns,
  where,
  withoutAccents,
} from './sql.js';

/** Everything that differs between queries of campaigns and of creatives. */
export interface AdEntity<SortName extends string> {
  name: 'campaign' | 'creative';
  /** All known ids, as a table `known`. */
  known: Sql;
  /** The records that filters and orders read, joined with `known`. `campaign` is the campaign whose currency counts. */
  records: Sql;
  /** The ids in `ids`, as `known`, joined with the tables that `columns` reads. */
  attributesFrom: Sql;
  columns: Sql[];
  conditions(filters: Filters): (Sql | undefined)[];
  /** The request field that filters by id. */
  ids: 'campaign_ids' | 'creative_ids';
  /** Orders that are not metrics. */
  sortKeys: Record<Exclude<SortName, Metric>, Sql>;
}

/** Campaigns that a record describes or a delivery names. */
const ALL_CAMPAIGNS = sql`(
  SELECT id FROM campaigns WHERE ${IN_ORGANIZATION}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE ${IN_ORGANIZATION}
)`;

/**
 * Creatives that a record describes or a delivery names, with their campaign. Among several campaigns in deliveries, the first by id
 * counts.
 */
const ALL_CREATIVES = sql`(
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE ${IN_ORGANIZATION}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE ${IN_ORGANIZATION} AND creative_id != ''
  ) GROUP BY id
)`;

const CAMPAIGN_RECORDS = sql`(SELECT * FROM campaigns FINAL WHERE ${IN_ORGANIZATION})`;
const CREATIVE_RECORDS = sql`(SELECT * FROM creatives FINAL WHERE ${IN_ORGANIZATION})`;
const OF_PAGE = sql`IN {ids:Array(String)}`;

export const CAMPAIGNS: AdEntity<CampaignSort> = {
  name: 'campaign',
  known: ALL_CAMPAIGNS,
  records: sql`LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.id`,
  attributesFrom: joinLines(
    sql`FROM (SELECT arrayJoin({ids:Array(String)}) AS id) AS known`,
    sql`LEFT JOIN (SELECT * FROM campaigns FINAL WHERE ${IN_ORGANIZATION} AND id ${OF_PAGE}) AS campaign ON campaign.id = known.id`,
    sql`LEFT JOIN (SELECT campaign_id, count() AS creatives FROM ${ALL_CREATIVES} WHERE campaign_id ${OF_PAGE} GROUP BY campaign_id) AS counted ON counted.campaign_id = known.id`,
  ),
  columns: [
    ...columnsOf(sql`campaign`, Object.keys(campaignAttributes)),
    sql`ifNull(counted.creatives, 0) AS creatives_count`,
  ],
  conditions: ({ campaign_ids, statuses, objective_types, search }) => [
    inList(sql`known.id`, 'campaign_ids', campaign_ids),
    inList(sql`campaign.status_key`, 'statuses', statuses),
    inList(sql`campaign.objective_type_key`, 'objective_types', objective_types),
    containsAny([sql`campaign.name_key`, sql`campaign.campaign_group_name_key`], search),
  ],
  ids: 'campaign_ids',
  sortKeys: {
    name: withoutAccents(sql`campaign.name_key`),
    status: asciiKey(sql`campaign.status`),
    objective_type: asciiKey(sql`campaign.objective_type`),
    start_date: sql`campaign.start_date`,
  },
};

export const CREATIVES: AdEntity<CreativeSort> = {
  name: 'creative',
  known: ALL_CREATIVES,
  records: joinLines(
    sql`LEFT JOIN ${CREATIVE_RECORDS} AS creative ON creative.id = known.id`,
    sql`LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.campaign_id`,
  ),
  attributesFrom: joinLines(
    sql`FROM (SELECT id, campaign_id FROM ${ALL_CREATIVES} WHERE id ${OF_PAGE}) AS known`,
    sql`LEFT JOIN (SELECT * FROM creatives FINAL WHERE ${IN_ORGANIZATION} AND id ${OF_PAGE}) AS creative ON creative.id = known.id`,
    sql`LEFT JOIN (SELECT id, name, currency FROM campaigns FINAL WHERE ${IN_ORGANIZATION}) AS campaign ON campaign.id = known.campaign_id`,
  ),
  columns: [
    sql`known.campaign_id AS campaign_id`,
    sql`campaign.name AS campaign_name`,
    ...columnsOf(sql`creative`, Object.keys(creativeAttributes)),
    sql`campaign.currency AS currency`,
  ],
  conditions: ({ campaign_ids, creative_ids, statuses, objective_types, search }) => [
    inList(sql`known.campaign_id`, 'campaign_ids', campaign_ids),
    inList(sql`known.id`, 'creative_ids', creative_ids),
    inList(sql`creative.status_key`, 'statuses', statuses),
    inList(sql`campaign.objective_type_key`, 'objective_types', objective_types),
    containsAny([sql`creative.name_key`, sql`creative.headline_key`, sql`campaign.name_key`], search),
  ],
  ids: 'creative_ids',
  sortKeys: {
    name: withoutAccents(sql`creative.name_key`),
    status: asciiKey(sql`creative.status`),
    campaign_name: withoutAccents(sql`campaign.name_key`),
    review_status: asciiKey(sql`creative.review_status`),
  },
};

interface Matches {
  report: ReportParams;
  filters: Filters;
  sums: readonly SummedMetric[];
  /** Whether the statement reads records even if no filter reads them. */
  readsRecords: boolean;
}

/**
 * Pairs (creative, campaign) with deliveries in a currency other than that of the creative's own campaign. If the own campaign has no
 * known currency, the pairs are included only if these deliveries have more than one currency.
 */
const FOREIGN_PAIRS = sql`(
  SELECT creative_id, campaign_id FROM (
    SELECT creative_id, campaign_id, own_currency, uniqExact(currency) OVER (PARTITION BY creative_id) AS currencies FROM (
      SELECT named.creative_id AS creative_id, named.campaign_id AS campaign_id,
        upper(ifNull(own.currency, '')) AS own_currency, upper(ifNull(other.currency, '')) AS currency
      FROM (SELECT DISTINCT creative_id, campaign_id FROM delivery_names WHERE ${IN_ORGANIZATION} AND creative_id != '') AS named
      INNER JOIN ${ALL_CREATIVES} AS known ON known.id = named.creative_id
      LEFT JOIN ${CAMPAIGN_RECORDS} AS own ON own.id = known.campaign_id
      LEFT JOIN ${CAMPAIGN_RECORDS} AS other ON other.id = named.campaign_id
    ) WHERE currency != own_currency
  ) WHERE own_currency != '' OR currencies > 1
)`;

/** Whether some creatives of the organization have deliveries in a currency that is not their own. */
export const hasForeignQuery = (organizationId: string): AnalyticsQuery => ({
  name: 'creatives_foreign',
  sql: sql`SELECT count() > 0 AS found FROM ${FOREIGN_PAIRS}`,
  params: { organization_id: organizationId },
});

const IS_FOREIGN = sql`(creative_id, campaign_id) IN ${FOREIGN_PAIRS}`;

/** Excludes deliveries of creatives in a currency that is not their own: money is never summed across currencies (contract 5.13). */
const inOwnCurrency = (name: AdEntity<never>['name'], { hasForeign }: ReportParams) =>
  name === 'creative' && hasForeign && sql`NOT ${IS_FOREIGN}`;

const filtersRecords = ({ statuses, objective_types, search }: Filters) =>
  [statuses, objective_types, search].some(Boolean);

/** Conditions for the deliveries of all matches. */
function deliveryConditions<SortName extends string>(
  { name, known, records, conditions, ids }: AdEntity<SortName>,
  filters: Filters,
) {
  const id = identifier(`${name}_id` as const);
  const isFiltered = filtersRecords(filters) || (name === 'creative' && filters.campaign_ids !== undefined);
  const matching = joinLines(sql`FROM ${known} AS known`, filtersRecords(filters) ? records : EMPTY_SQL);
  return [
    inList(id, ids, filters[ids]),
    isFiltered && sql`${id} IN (SELECT known.id ${matching} ${where(...conditions(filters))})`,
  ];
}

/** All matches, with their sums as `metrics`. This is the end of a statement. */
function matchesOf<SortName extends string>(
  entity: AdEntity<SortName>,
  { report, filters, sums, readsRecords }: Matches,
): Pick<AnalyticsQuery, 'sql' | 'params'> {
  const { name, known, records, conditions } = entity;
  const by = `${name}_id` as const;
  const id = identifier(by);
  const delivery = reportSource('creative', by, report, sums, [
    ...deliveryConditions(entity, filters),
    inOwnCurrency(name, report),
  ]);
  const metrics = sql`LEFT JOIN (
  SELECT ${list([id, ...sumColumns(sums)])}
  ${delivery.from}
  GROUP BY ${id}
) AS metrics ON metrics.${id} = known.id`;
  return {
    sql: joinLines(
      sql`FROM ${known} AS known`,
      readsRecords || filtersRecords(filters) ? records : EMPTY_SQL,
      sums.length > 0 ? metrics : EMPTY_SQL,
      where(...conditions(filters)),
    ),
    params: {
      organization_id: report.organizationId,
      ...filters,
      ...(sums.length > 0 ? delivery.params : {}),
    },
  };
}

/** Currencies with more items come first (contract 5.13). */
const BY_CURRENCY = sql`count() OVER (PARTITION BY campaign.currency) DESC, campaign.currency ASC NULLS LAST, `;

/** The ids of one page of campaigns or creatives, and the number of matches. Sums only the metric by which the page is ordered. */
export function adsQuery<SortName extends string>(
  entity: AdEntity<SortName>,
  { report, filters, sort, page }: ListParams<SortName>,
): AnalyticsQuery {
  const metric = METRIC_NAMES.find((each) => each === sort.by);
  const sums = metric ? requiredSums([metric]) : [];
  const byCurrency = metric !== undefined && isAmount(metric) && report.currency === undefined;
  const { sql: matches, params } = matchesOf(entity, {
    report,
    filters,
    sums,
    readsRecords: !metric || byCurrency,
  });
  const order = metric ? metricKey(metric) : entity.sortKeys[sort.by as Exclude<SortName, Metric>];
  return {
    name: `${entity.name}s_page`,
    sql: joinLines(
      sql`SELECT known.id AS id`,
      matches,
      orderAndPage(order, sort.descending, byCurrency ? BY_CURRENCY : EMPTY_SQL),
    ),
    params: { ...params, ...pageParams(page) },
  };
}

/** The sums of all matches by currency; currencies with more items come first. */
export function adTotalsQuery(
  entity: AdEntity<never>,
  report: ReportParams,
  filters: Filters,
): AnalyticsQuery {
  const sums = requiredSums(report.metrics);
  const { sql: matches, params } = matchesOf(entity, { report, filters, sums, readsRecords: true });
  if (report.hasForeign) return foreignTotalsQuery(entity, { report, filters, sums, readsRecords: true });
  const currency = report.currency === undefined ? sql`campaign.currency` : sql`{currency:String}`;
  return {
    name: `${entity.name}s_totals`,
    sql: joinLines(
      sql`SELECT ${list([sql`${currency} AS currency`, ...totalColumns(sums)])}`,
      matches,
      sql`GROUP BY currency ORDER BY count() DESC, currency ASC NULLS LAST`,
    ),
    params: { ...params, ...(report.currency && { currency: report.currency }) },
  };
}

/**
 * Totals like `adTotalsQuery`, including deliveries of creatives in a currency that is not their own. These deliveries count in the
 * currency of their campaign.
 */
function foreignTotalsQuery(entity: AdEntity<never>, matching: Matches): AnalyticsQuery {
  const { report, filters, sums } = matching;
  const { sql: matches, params } = matchesOf(entity, matching);
  const foreign = reportSource('creative', 'creative_id', report, sums, [
    ...deliveryConditions(entity, filters),
    IS_FOREIGN,
  ]);
  const metrics = sums.map((name) => sql`metrics.${identifier(name)} AS ${identifier(name)}`);
  return {
    name: `${entity.name}s_totals`,
    sql: joinLines(
      sql`SELECT ${list([sql`currency`, sql`max(foreign_id) AS foreign_id`, ...totalColumns(sums)])}`,
      sql`FROM (`,
      sql`SELECT ${list([sql`campaign.currency AS currency`, sql`'' AS foreign_id`, ...metrics])}`,
      matches,
      sql`UNION ALL`,
      sql`SELECT ${list([sql`campaign.currency AS currency`, sql`metrics.creative_id AS foreign_id`, ...metrics])}`,
      sql`FROM (SELECT ${list([sql`creative_id`, sql`campaign_id`, ...sumColumns(sums)])}`,
      foreign.from,
      sql`GROUP BY creative_id, campaign_id) AS metrics`,
      sql`LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = metrics.campaign_id`,
      sql`) AS metrics`,
      sql`GROUP BY currency ORDER BY countIf(metrics.foreign_id = '') DESC, currency ASC NULLS LAST`,
    ),
    params,
  };
}

/** The rates with which the money of all matches is converted. */
export const adRatesQuery = (entity: AdEntity<never>, report: ConvertedReport, filters: Filters) => {
  const query = usedRatesQuery(report, deliveryConditions(entity, filters));
  return { ...query, params: { ...filters, ...query.params } };
};

/** The attributes of campaigns or creatives on a page. */
export const adAttributesQuery = (
  { name, attributesFrom, columns }: Pick<AdEntity<never>, 'name' | 'attributesFrom' | 'columns'>,
  organizationId: string,
  ids: readonly string[],
): AnalyticsQuery => ({
  name: `${name}s_attributes`,
  sql: joinLines(sql`SELECT ${list([sql`known.id AS id`, ...columns])}`, attributesFrom),
  params: { organization_id: organizationId, ids },
});

/** The metrics of some campaigns or creatives. */
export function adMetricsQuery(
  { name }: Pick<AdEntity<never>, 'name'>,
  report: ReportParams,
  ids: readonly string[],
  rows: MetricRows,
): AnalyticsQuery {
  const by = `${name}_id` as const;
  const conditions = [inList(identifier(by), 'ids', ids), inOwnCurrency(name, report)];
  return metricsQuery({ name: `${name}s_figures`, by, source: 'creative', conditions }, report, ids, rows);
}
