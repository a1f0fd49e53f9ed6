/** Requests about campaigns and creatives as statements. Pure. */
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
  metricKey,
  orderAndPage,
  pageParams,
  sumColumns,
  totalColumns,
  where,
  withoutAccents,
} from './sql.js';

/** All that differs between the queries of campaigns and of creatives. */
export interface AdEntity<SortName extends string> {
  name: 'campaign' | 'creative';
  /** All ids, as `known`. */
  known: string;
  /** The records that filters and orders read, joined with `known`; `campaign` is that of the currency. */
  records: string;
  /** The ids in `ids`, as `known`, joined with what `columns` reads. */
  attributesFrom: string;
  columns: string[];
  conditions(filters: Filters): (string | undefined)[];
  /** The filter by its ids. */
  ids: 'campaign_ids' | 'creative_ids';
  /** Orders other than those by metrics. */
  sortKeys: Record<Exclude<SortName, Metric>, string>;
}

/** Campaigns that a record describes or a delivery names. */
const ALL_CAMPAIGNS = `(
  SELECT id FROM campaigns WHERE ${IN_ORGANIZATION}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE ${IN_ORGANIZATION}
)`;

/** Creatives that a record describes, or else a delivery names, with their campaign (of several, the first by id). */
const ALL_CREATIVES = `(
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE ${IN_ORGANIZATION}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE ${IN_ORGANIZATION} AND creative_id != ''
  ) GROUP BY id
)`;

const CAMPAIGN_RECORDS = `(SELECT * FROM campaigns FINAL WHERE ${IN_ORGANIZATION})`;
const CREATIVE_RECORDS = `(SELECT * FROM creatives FINAL WHERE ${IN_ORGANIZATION})`;
const OF_PAGE = 'IN {ids:Array(String)}';

export const CAMPAIGNS: AdEntity<CampaignSort> = {
  name: 'campaign',
  known: ALL_CAMPAIGNS,
  records: `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.id`,
  attributesFrom: joinLines(
    'FROM (SELECT arrayJoin({ids:Array(String)}) AS id) AS known',
    `LEFT JOIN (SELECT * FROM campaigns FINAL WHERE ${IN_ORGANIZATION} AND id ${OF_PAGE}) AS campaign ON campaign.id = known.id`,
    `LEFT JOIN (SELECT campaign_id, count() AS creatives FROM ${ALL_CREATIVES} WHERE campaign_id ${OF_PAGE} GROUP BY campaign_id) AS counted ON counted.campaign_id = known.id`,
  ),
  columns: [
    ...columnsOf('campaign', Object.keys(campaignAttributes)),
    'ifNull(counted.creatives, 0) AS creatives_count',
  ],
  conditions: ({ campaign_ids, statuses, objective_types, search }) => [
    inList('known.id', 'campaign_ids', campaign_ids),
    inList('campaign.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objective_types),
    containsAny(['campaign.name_key', 'campaign.campaign_group_name_key'], search),
  ],
  ids: 'campaign_ids',
  sortKeys: {
    name: withoutAccents('campaign.name_key'),
    status: asciiKey('campaign.status'),
    objective_type: asciiKey('campaign.objective_type'),
    start_date: 'campaign.start_date',
  },
};

export const CREATIVES: AdEntity<CreativeSort> = {
  name: 'creative',
  known: ALL_CREATIVES,
  records: joinLines(
    `LEFT JOIN ${CREATIVE_RECORDS} AS creative ON creative.id = known.id`,
    `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.campaign_id`,
  ),
  attributesFrom: joinLines(
    `FROM (SELECT id, campaign_id FROM ${ALL_CREATIVES} WHERE id ${OF_PAGE}) AS known`,
    `LEFT JOIN (SELECT * FROM creatives FINAL WHERE ${IN_ORGANIZATION} AND id ${OF_PAGE}) AS creative ON creative.id = known.id`,
    `LEFT JOIN (SELECT id, name, currency FROM campaigns FINAL WHERE ${IN_ORGANIZATION}) AS campaign ON campaign.id = known.campaign_id`,
  ),
  columns: [
    'known.campaign_id AS campaign_id',
    'campaign.name AS campaign_name',
    ...columnsOf('creative', Object.keys(creativeAttributes)),
    'campaign.currency AS currency',
  ],
  conditions: ({ campaign_ids, creative_ids, statuses, objective_types, search }) => [
    inList('known.campaign_id', 'campaign_ids', campaign_ids),
    inList('known.id', 'creative_ids', creative_ids),
    inList('creative.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objective_types),
    containsAny(['creative.name_key', 'creative.headline_key', 'campaign.name_key'], search),
  ],
  ids: 'creative_ids',
  sortKeys: {
    name: withoutAccents('creative.name_key'),
    status: asciiKey('creative.status'),
    campaign_name: withoutAccents('campaign.name_key'),
    review_status: asciiKey('creative.review_status'),
  },
};

interface Matches {
  report: ReportParams;
  filters: Filters;
  sums: readonly SummedMetric[];
  /** Whether the statement reads records, even where no filter does. */
  readsRecords: boolean;
}

const filtersRecords = ({ statuses, objective_types, search }: Filters) =>
  [statuses, objective_types, search].some(Boolean);

/** The deliveries of everything that matches. */
function deliveryConditions<SortName extends string>(
  { name, known, records, conditions, ids }: AdEntity<SortName>,
  filters: Filters,
) {
  const id = `${name}_id`;
  const isFiltered = filtersRecords(filters) || (name === 'creative' && filters.campaign_ids !== undefined);
  const matching = joinLines(`FROM ${known} AS known`, filtersRecords(filters) ? records : '');
  return [
    inList(id, ids, filters[ids]),
    isFiltered && `${id} IN (SELECT known.id ${matching} ${where(...conditions(filters))})`,
  ];
}

/** Everything that matches, with its sums as `metrics`: the end of a statement. */
function matchesOf<SortName extends string>(
  entity: AdEntity<SortName>,
  { report, filters, sums, readsRecords }: Matches,
): Pick<AnalyticsQuery, 'sql' | 'params'> {
  const { name, known, records, conditions } = entity;
  const id = `${name}_id` as const;
  const delivery = reportSource('creative', id, report, sums, deliveryConditions(entity, filters));
  const metrics = `LEFT JOIN (
  SELECT ${[id, ...sumColumns(sums, 'delivery')].join(', ')}
  ${delivery.from}
  GROUP BY ${id}
) AS metrics ON metrics.${id} = known.id`;
  return {
    sql: joinLines(
      `FROM ${known} AS known`,
      readsRecords || filtersRecords(filters) ? records : '',
      sums.length > 0 ? metrics : '',
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
const BY_CURRENCY = 'count() OVER (PARTITION BY campaign.currency) DESC, campaign.currency ASC NULLS LAST, ';

/** The ids of one page of campaigns or creatives, and how many match. Only what they are ordered by is summed. */
export function adsQuery<SortName extends string>(
  entity: AdEntity<SortName>,
  { report, filters, sort, page }: ListParams<SortName>,
): AnalyticsQuery {
  const metric = METRIC_NAMES.find((each) => each === sort.by);
  const sums = metric ? requiredSums([metric]) : [];
  const byCurrency = metric !== undefined && isAmount(metric) && report.currency === undefined;
  const { sql, params } = matchesOf(entity, { report, filters, sums, readsRecords: !metric || byCurrency });
  const order = metric ? metricKey(metric) : entity.sortKeys[sort.by as Exclude<SortName, Metric>];
  return {
    name: `${entity.name}s_page`,
    sql: joinLines(
      'SELECT known.id AS id',
      sql,
      orderAndPage(order, sort.descending, byCurrency ? BY_CURRENCY : ''),
    ),
    params: { ...params, ...pageParams(page) },
  };
}

/** The sums of everything that matches by currency, those with more items first. */
export function adTotalsQuery(
  entity: AdEntity<never>,
  report: ReportParams,
  filters: Filters,
): AnalyticsQuery {
  const sums = requiredSums(report.metrics);
  const { sql, params } = matchesOf(entity, { report, filters, sums, readsRecords: true });
  const currency = report.currency === undefined ? 'campaign.currency' : '{currency:String}';
  return {
    name: `${entity.name}s_totals`,
    sql: joinLines(
      `SELECT ${[`${currency} AS currency`, ...totalColumns(sums)].join(', ')}`,
      sql,
      'GROUP BY currency ORDER BY count() DESC, currency ASC NULLS LAST',
    ),
    params: { ...params, ...(report.currency && { currency: report.currency }) },
  };
}

/** The rates by which the money of everything that matches is converted. */
export const adRatesQuery = (entity: AdEntity<never>, report: ConvertedReport, filters: Filters) => {
  const query = usedRatesQuery(report, deliveryConditions(entity, filters));
  return { ...query, params: { ...filters, ...query.params } };
};

/** The attributes of the campaigns or creatives of a page. */
export const adAttributesQuery = (
  { name, attributesFrom, columns }: Pick<AdEntity<never>, 'name' | 'attributesFrom' | 'columns'>,
  organizationId: string,
  ids: readonly string[],
): AnalyticsQuery => ({
  name: `${name}s_attributes`,
  sql: joinLines(`SELECT ${['known.id AS id', ...columns].join(', ')}`, attributesFrom),
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
  const conditions = [inList(by, 'ids', ids)];
  return metricsQuery({ name: `${name}s_figures`, by, source: 'creative', conditions }, report, ids, rows);
}
