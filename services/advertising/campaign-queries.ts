/** Requests about campaigns and creatives as statements. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { campaignAttributes, creativeAttributes } from './attributes.js';
import { requiredSums } from './metric-values.js';
import { METRIC_NAMES } from './metrics.js';
import type { ListParams, ReportParams } from './report-params.js';
import type { CampaignSort, CreativeSort } from './requests.js';
import { deliverySource } from './rollups.js';
import { seriesQuery } from './series-query.js';
import {
  asciiKey,
  columnsOf,
  containsAny,
  definedParams,
  IN_ORGANIZATION,
  inList,
  joinLines,
  metricColumns,
  metricKey,
  orderAndPage,
  pageParams,
  type QueryParams,
  reportQueryParams,
  sumColumns,
  where,
} from './sql.js';

/** Filters in the forms compared: statuses and objectives normalized, the search text case-folded. */
export interface AdFilters {
  campaignIds?: string[];
  /** Of creatives only. */
  creativeIds?: string[];
  statuses?: string[];
  objectiveTypes?: string[];
  search?: string;
}

/** All that differs between the queries of campaigns and of creatives. */
export interface AdEntity<SortName extends string> {
  name: 'campaign' | 'creative';
  /** The ids, as `known`, and the records they are joined with. */
  from: string;
  /** Joined after the metrics. */
  join: string;
  columns: string[];
  conditions(filters: AdFilters): (string | undefined)[];
  ids(filters: AdFilters): string[] | undefined;
  sortKeys: Record<SortName, string>;
}

const metricKeys = Object.fromEntries(METRIC_NAMES.map((metric) => [metric, metricKey(metric)])) as Record<
  (typeof METRIC_NAMES)[number],
  string
>;

/** Campaigns that a record describes or a delivery names. */
const ALL_CAMPAIGNS = `(
  SELECT id FROM campaigns WHERE ${IN_ORGANIZATION}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE ${IN_ORGANIZATION}
)`;

/** Creatives that a record describes, or else a delivery names, with their campaign (of several, the first by id). */
const ALL_CREATIVES = `(
  SELECT id, campaign_id FROM creatives FINAL WHERE ${IN_ORGANIZATION}
  UNION ALL
  SELECT creative_id, min(campaign_id) FROM delivery_names
  WHERE ${IN_ORGANIZATION} AND creative_id != ''
    AND creative_id NOT IN (SELECT id FROM creatives WHERE ${IN_ORGANIZATION})
  GROUP BY creative_id
)`;

const CAMPAIGN_RECORDS = `(SELECT * FROM campaigns FINAL WHERE ${IN_ORGANIZATION})`;
const CREATIVE_RECORDS = `(SELECT * FROM creatives FINAL WHERE ${IN_ORGANIZATION})`;

export const CAMPAIGNS: AdEntity<CampaignSort> = {
  name: 'campaign',
  from: joinLines(
    `FROM ${ALL_CAMPAIGNS} AS known`,
    `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.id`,
  ),
  join: `LEFT JOIN (SELECT campaign_id, count() AS creatives FROM ${ALL_CREATIVES} GROUP BY campaign_id) AS counted ON counted.campaign_id = known.id`,
  columns: [
    ...columnsOf('campaign', [...Object.keys(campaignAttributes), 'name_key']),
    'ifNull(counted.creatives, 0) AS creatives_count',
  ],
  conditions: ({ campaignIds, statuses, objectiveTypes, search }) => [
    inList('known.id', 'campaign_ids', campaignIds),
    inList('campaign.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objectiveTypes),
    containsAny(['campaign.name_key', 'campaign.campaign_group_name_key'], search),
  ],
  ids: ({ campaignIds }) => campaignIds,
  sortKeys: {
    ...metricKeys,
    name: 'name_key',
    status: asciiKey('status'),
    objective_type: asciiKey('objective_type'),
    start_date: 'start_date',
  },
};

export const CREATIVES: AdEntity<CreativeSort> = {
  name: 'creative',
  from: joinLines(
    `FROM ${ALL_CREATIVES} AS known`,
    `LEFT JOIN ${CREATIVE_RECORDS} AS creative ON creative.id = known.id`,
    `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.campaign_id`,
  ),
  join: '',
  columns: [
    'known.campaign_id AS campaign_id',
    'campaign.name AS campaign_name',
    'campaign.name_key AS campaign_name_key',
    'campaign.currency AS currency',
    ...columnsOf('creative', [...Object.keys(creativeAttributes), 'name_key']),
  ],
  conditions: ({ campaignIds, creativeIds, statuses, objectiveTypes, search }) => [
    inList('known.campaign_id', 'campaign_ids', campaignIds),
    inList('known.id', 'creative_ids', creativeIds),
    inList('creative.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objectiveTypes),
    containsAny(['creative.name_key', 'creative.headline_key', 'campaign.name_key'], search),
  ],
  ids: ({ creativeIds }) => creativeIds,
  sortKeys: {
    ...metricKeys,
    name: 'name_key',
    status: asciiKey('status'),
    campaign_name: 'campaign_name_key',
    review_status: asciiKey('review_status'),
  },
};

const filterParams = (organizationId: string, filters: AdFilters): QueryParams =>
  definedParams({
    organization_id: organizationId,
    campaign_ids: filters.campaignIds,
    creative_ids: filters.creativeIds,
    statuses: filters.statuses,
    objective_types: filters.objectiveTypes,
    search: filters.search,
  });

/** One page of campaigns or creatives with their metrics over the range, and how many match. */
export function adsQuery<SortName extends string>(
  { name, from, join, columns, conditions, ids, sortKeys }: AdEntity<SortName>,
  { report, filters, sort, page }: ListParams<AdFilters, SortName>,
): AnalyticsQuery {
  const sums = requiredSums([...report.metrics, ...METRIC_NAMES.filter((metric) => metric === sort.by)]);
  const id = `${name}_id`;
  const { statuses, objectiveTypes, search, campaignIds } = filters;
  const isFiltered = [statuses, objectiveTypes, search, id === 'creative_id' && campaignIds].some(Boolean);
  const delivery = deliverySource('creative', report, sums, [
    inList(id, `${id}s`, ids(filters)),
    isFiltered && `${id} IN (SELECT known.id ${from} ${where(...conditions(filters))})`,
  ]);
  return {
    name: `${name}s_page`,
    sql: joinLines(
      `SELECT ${['known.id AS id', ...columns, ...metricColumns(sums, 'metrics')].join(', ')}`,
      from,
      `LEFT JOIN (
  SELECT ${[id, ...sumColumns(sums, 'delivery')].join(', ')}
  ${delivery.from}
  GROUP BY ${id}
) AS metrics ON metrics.${id} = known.id`,
      join,
      where(...conditions(filters)),
      orderAndPage(sort, sortKeys),
    ),
    params: {
      ...filterParams(report.organizationId, filters),
      ...reportQueryParams(report),
      ...pageParams(page),
      ...delivery.params,
    },
  };
}

/** Sums by period of some campaigns or creatives. */
export function adSeriesQuery(
  { name }: Pick<AdEntity<never>, 'name'>,
  report: ReportParams,
  ids: readonly string[],
): AnalyticsQuery {
  const by = `${name}_id` as const;
  const conditions = [inList(by, 'ids', ids)];
  return seriesQuery({ name: `${name}s_series`, by, source: 'creative', conditions }, report, ids);
}

/** Currencies of the campaigns of everything that matches, not only of one page. */
export function currenciesQuery(
  { name, from, conditions }: Pick<AdEntity<never>, 'name' | 'from' | 'conditions'>,
  organizationId: string,
  filters: AdFilters,
): AnalyticsQuery {
  return {
    name: `${name}_currencies`,
    sql: joinLines(
      'SELECT arraySort(groupUniqArray(campaign.currency))',
      from,
      where(...conditions(filters)),
    ),
    params: filterParams(organizationId, filters),
  };
}
