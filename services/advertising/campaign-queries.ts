/** Requests about campaigns and creatives as statements. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { campaignAttributes, creativeAttributes } from './attributes.js';
import { requiredSums } from './metric-values.js';
import { METRIC_NAMES, type Metric } from './metrics.js';
import type { ListParams, ReportParams } from './report-params.js';
import type { CampaignSort, CreativeSort } from './requests.js';
import { deliverySource } from './rollups.js';
import { type MetricRows, metricsQuery } from './series.js';
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
  /** All ids, as `known`. */
  known: string;
  /** The records that filters and orders read, joined with `known`. */
  records: string;
  /** The ids in `ids`, as `known`, joined with what `columns` reads. */
  attributesFrom: string;
  columns: string[];
  conditions(filters: AdFilters, id?: string): (string | undefined)[];
  /** The campaigns of all that match, and the id that the conditions are on. */
  campaigns: { from: string; id: string };
  ids(filters: AdFilters): string[] | undefined;
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
  conditions: ({ campaignIds, statuses, objectiveTypes, search }, id = 'known.id') => [
    inList(id, 'campaign_ids', campaignIds),
    inList('campaign.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objectiveTypes),
    containsAny(['campaign.name_key', 'campaign.campaign_group_name_key'], search),
  ],
  campaigns: { from: `FROM ${CAMPAIGN_RECORDS} AS campaign`, id: 'campaign.id' },
  ids: ({ campaignIds }) => campaignIds,
  sortKeys: {
    name: 'campaign.name_key',
    status: asciiKey('campaign.status'),
    objective_type: asciiKey('campaign.objective_type'),
    start_date: 'campaign.start_date',
  },
};

const RECORDS_OF_CREATIVES = joinLines(
  `LEFT JOIN ${CREATIVE_RECORDS} AS creative ON creative.id = known.id`,
  `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.campaign_id`,
);

export const CREATIVES: AdEntity<CreativeSort> = {
  name: 'creative',
  known: ALL_CREATIVES,
  records: RECORDS_OF_CREATIVES,
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
  conditions: ({ campaignIds, creativeIds, statuses, objectiveTypes, search }, id = 'known.id') => [
    inList('known.campaign_id', 'campaign_ids', campaignIds),
    inList(id, 'creative_ids', creativeIds),
    inList('creative.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objectiveTypes),
    containsAny(['creative.name_key', 'creative.headline_key', 'campaign.name_key'], search),
  ],
  campaigns: { from: joinLines(`FROM ${ALL_CREATIVES} AS known`, RECORDS_OF_CREATIVES), id: 'known.id' },
  ids: ({ creativeIds }) => creativeIds,
  sortKeys: {
    name: 'creative.name_key',
    status: asciiKey('creative.status'),
    campaign_name: 'campaign.name_key',
    review_status: asciiKey('creative.review_status'),
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

/** The ids of one page of campaigns or creatives, and how many match. Only what they are ordered by is summed. */
export function adsQuery<SortName extends string>(
  { name, known, records, conditions, ids, sortKeys }: AdEntity<SortName>,
  { report, filters, sort, page }: ListParams<AdFilters, SortName>,
): AnalyticsQuery {
  const metric = METRIC_NAMES.find((each) => each === sort.by);
  const { statuses, objectiveTypes, search, campaignIds } = filters;
  const readsRecords = [statuses, objectiveTypes, search, !metric].some(Boolean);
  const from = joinLines(`FROM ${known} AS known`, readsRecords ? records : '');
  const selected = where(...conditions(filters));
  const parts = [from];
  let params: QueryParams = {};
  const sums = metric ? requiredSums([metric]) : [];
  if (metric) {
    const id = `${name}_id`;
    const isFiltered = readsRecords || (name === 'creative' && campaignIds !== undefined);
    const delivery = deliverySource('creative', report, sums, [
      inList(id, `${id}s`, ids(filters)),
      isFiltered && `${id} IN (SELECT known.id ${from} ${selected})`,
    ]);
    parts.push(`LEFT JOIN (
  SELECT ${[id, ...sumColumns(sums, 'delivery')].join(', ')}
  ${delivery.from}
  GROUP BY ${id}
) AS metrics ON metrics.${id} = known.id`);
    params = delivery.params;
  }
  const order = metric ? metricKey(metric) : sortKeys[sort.by as Exclude<SortName, Metric>];
  return {
    name: `${name}s_page`,
    sql: joinLines(
      `SELECT ${['known.id AS id', ...metricColumns(sums, 'metrics')].join(', ')}`,
      ...parts,
      selected,
      orderAndPage(order, sort.descending),
    ),
    params: { ...filterParams(report.organizationId, filters), ...pageParams(page), ...params },
  };
}

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

/** Currencies of the campaigns of everything that matches, not only of one page. */
export function currenciesQuery(
  { name, campaigns, conditions }: Pick<AdEntity<never>, 'name' | 'campaigns' | 'conditions'>,
  organizationId: string,
  filters: AdFilters,
): AnalyticsQuery {
  return {
    name: `${name}_currencies`,
    sql: joinLines(
      'SELECT arraySort(groupUniqArray(campaign.currency))',
      campaigns.from,
      where(...conditions(filters, campaigns.id)),
    ),
    params: filterParams(organizationId, filters),
  };
}
