/** Requests about campaigns and creatives as statements. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { requiredSums } from './metric-values.js';
import { METRIC_NAMES } from './metrics.js';
import type { Page, ReportParams, Sort } from './report-params.js';
import type { CampaignSort, CreativeSort } from './requests.js';
import {
  asciiKey,
  containsAny,
  definedParams,
  IN_ORGANIZATION,
  IN_RANGE,
  inList,
  joinLines,
  metricColumns,
  metricKey,
  orderAndPage,
  pageParams,
  periodStart,
  type QueryParams,
  reportQueryParams,
  SERIES_LIMIT,
  seriesLimit,
  sumColumns,
  where,
} from './sql.js';

/** Filters in the forms compared: statuses and objectives as keys, the search text as case key. */
export interface CampaignFilters {
  campaignIds?: string[];
  statuses?: string[];
  objectiveTypes?: string[];
  search?: string;
}

export interface CampaignsPlan {
  report: ReportParams;
  filters: CampaignFilters;
  sort: Sort<CampaignSort>;
  page: Page;
}

export interface CreativeFilters extends CampaignFilters {
  creativeIds?: string[];
}

export interface CreativesPlan {
  report: ReportParams;
  filters: CreativeFilters;
  sort: Sort<CreativeSort>;
  page: Page;
}

const metricKeys = Object.fromEntries(METRIC_NAMES.map((metric) => [metric, metricKey(metric)])) as Record<
  (typeof METRIC_NAMES)[number],
  string
>;
const CAMPAIGN_KEYS: Record<CampaignSort, string> = {
  ...metricKeys,
  name: 'name_key',
  status: asciiKey('status'),
  objective_type: asciiKey('objective_type'),
  start_date: 'start_date',
};
const CREATIVE_KEYS: Record<CreativeSort, string> = {
  ...metricKeys,
  name: 'name_key',
  status: asciiKey('status'),
  campaign_name: 'campaign_name_key',
  review_status: asciiKey('review_status'),
};

const CAMPAIGN_COLUMNS = [
  'network_a_campaign_id',
  'name',
  'account_id',
  'campaign_group_id',
  'campaign_group_name',
  'status',
  'objective_type',
  'format',
  'cost_type',
  'currency',
  'daily_budget',
  'total_budget',
  'start_date',
  'end_date',
];
const CREATIVE_COLUMNS = [
  'network_a_creative_id',
  'name',
  'status',
  'review_status',
  'format',
  'headline',
  'landing_page_url',
  'image_url',
];

/** Campaigns that a record describes or a delivery names. */
const KNOWN_CAMPAIGNS = `(
  SELECT id FROM campaigns WHERE ${IN_ORGANIZATION}
  UNION DISTINCT SELECT campaign_id FROM delivery_dates WHERE ${IN_ORGANIZATION}
)`;

/** Creatives that a record describes, or else a delivery names, with their campaign (of several, the first by id). */
const KNOWN_CREATIVES = `(
  SELECT id, campaign_id FROM creatives FINAL WHERE ${IN_ORGANIZATION}
  UNION ALL
  SELECT creative_id, min(campaign_id) FROM delivery_dates
  WHERE ${IN_ORGANIZATION} AND creative_id != ''
    AND creative_id NOT IN (SELECT id FROM creatives WHERE ${IN_ORGANIZATION})
  GROUP BY creative_id
)`;

const CAMPAIGN_RECORDS = `(SELECT * FROM campaigns FINAL WHERE ${IN_ORGANIZATION})`;
const CREATIVE_RECORDS = `(SELECT * FROM creatives FINAL WHERE ${IN_ORGANIZATION})`;

type Filtered = { from: string; params: QueryParams };

function matchingCampaigns(organizationId: string, filters: CampaignFilters): Filtered {
  const { campaignIds, statuses, objectiveTypes, search } = filters;
  return {
    from: joinLines(
      `FROM ${KNOWN_CAMPAIGNS} AS known`,
      `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.id`,
    ),
    params: definedParams({
      organization_id: organizationId,
      campaign_ids: campaignIds,
      statuses,
      objective_types: objectiveTypes,
      search,
    }),
  };
}

function campaignConditions({ campaignIds, statuses, objectiveTypes, search }: CampaignFilters): string {
  return where(
    inList('known.id', 'campaign_ids', campaignIds),
    inList('campaign.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objectiveTypes),
    containsAny(['campaign.name_key', 'campaign.campaign_group_name_key'], search),
  );
}

function matchingCreatives(organizationId: string, filters: CreativeFilters): Filtered {
  const { campaignIds, creativeIds, statuses, objectiveTypes, search } = filters;
  return {
    from: joinLines(
      `FROM ${KNOWN_CREATIVES} AS known`,
      `LEFT JOIN ${CREATIVE_RECORDS} AS creative ON creative.id = known.id`,
      `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.campaign_id`,
    ),
    params: definedParams({
      organization_id: organizationId,
      campaign_ids: campaignIds,
      creative_ids: creativeIds,
      statuses,
      objective_types: objectiveTypes,
      search,
    }),
  };
}

function creativeConditions(filters: CreativeFilters): string {
  const { campaignIds, creativeIds, statuses, objectiveTypes, search } = filters;
  return where(
    inList('known.campaign_id', 'campaign_ids', campaignIds),
    inList('known.id', 'creative_ids', creativeIds),
    inList('creative.status_key', 'statuses', statuses),
    inList('campaign.objective_type_key', 'objective_types', objectiveTypes),
    containsAny(['creative.name_key', 'creative.headline_key', 'campaign.name_key'], search),
  );
}

/** Sums over the range by campaign or creative, of the deliveries broken down by creative. */
function figures(
  by: 'campaign_id' | 'creative_id',
  report: ReportParams,
  sort: string,
  only: string | undefined,
) {
  const names = requiredSums([...report.metrics, ...METRIC_NAMES.filter((metric) => metric === sort)]);
  const condition = where(IN_ORGANIZATION, IN_RANGE, "creative_id != ''", only);
  return {
    names,
    join: `LEFT JOIN (
  SELECT ${[by, ...sumColumns(names, 'delivery')].join(', ')}
  FROM deliveries AS delivery FINAL
  ${condition}
  GROUP BY ${by}
) AS metrics ON metrics.${by} = known.id`,
  };
}

const aliased = (columns: readonly string[], from: string) =>
  columns.map((column) => `${from}.${column} AS ${column}`);

/** One page of campaigns with their figures, and how many match. */
export function campaignsQuery({ report, filters, sort, page }: CampaignsPlan): AnalyticsQuery {
  const matching = matchingCampaigns(report.organizationId, filters);
  const { names, join } = figures(
    'campaign_id',
    report,
    sort.by,
    inList('campaign_id', 'campaign_ids', filters.campaignIds),
  );
  const columns = [
    'known.id AS id',
    ...aliased([...CAMPAIGN_COLUMNS, 'name_key'], 'campaign'),
    'ifNull(counted.creatives, 0) AS creatives_count',
    ...metricColumns(names, 'metrics'),
  ];
  return {
    name: 'campaigns_page',
    sql: joinLines(
      `SELECT ${columns.join(', ')}`,
      matching.from,
      join,
      `LEFT JOIN (SELECT campaign_id, count() AS creatives FROM ${KNOWN_CREATIVES} GROUP BY campaign_id) AS counted ON counted.campaign_id = known.id`,
      campaignConditions(filters),
      orderAndPage(sort, CAMPAIGN_KEYS),
    ),
    params: { ...matching.params, ...reportQueryParams(report), ...pageParams(page) },
  };
}

/** One page of creatives with their figures, and how many match. */
export function creativesQuery({ report, filters, sort, page }: CreativesPlan): AnalyticsQuery {
  const matching = matchingCreatives(report.organizationId, filters);
  const { names, join } = figures(
    'creative_id',
    report,
    sort.by,
    inList('creative_id', 'creative_ids', filters.creativeIds),
  );
  const columns = [
    'known.id AS id',
    'known.campaign_id AS campaign_id',
    'campaign.name AS campaign_name',
    'campaign.name_key AS campaign_name_key',
    'campaign.currency AS currency',
    ...aliased([...CREATIVE_COLUMNS, 'name_key'], 'creative'),
    ...metricColumns(names, 'metrics'),
  ];
  return {
    name: 'creatives_page',
    sql: joinLines(
      `SELECT ${columns.join(', ')}`,
      matching.from,
      join,
      creativeConditions(filters),
      orderAndPage(sort, CREATIVE_KEYS),
    ),
    params: { ...matching.params, ...reportQueryParams(report), ...pageParams(page) },
  };
}

/** Sums by period of some campaigns or creatives; periods without deliveries have no row. */
export function seriesQuery(
  by: 'campaign_id' | 'creative_id',
  report: ReportParams,
  ids: readonly string[],
): AnalyticsQuery {
  const names = requiredSums(report.metrics);
  return {
    name: by === 'campaign_id' ? 'campaigns_series' : 'creatives_series',
    sql: joinLines(
      `SELECT ${[`${by} AS id`, `${periodStart(report.granularity)} AS day`, ...sumColumns(names, 'delivery')].join(', ')}`,
      'FROM deliveries AS delivery FINAL',
      where(IN_ORGANIZATION, IN_RANGE, "creative_id != ''", inList(by, 'ids', ids)),
      'GROUP BY id, day',
      SERIES_LIMIT,
    ),
    params: { ...reportQueryParams(report), ids, ...seriesLimit(report, ids) },
  };
}

/** Currencies of all campaigns that match, not only of those of the page. */
export function campaignCurrencies(organizationId: string, filters: CampaignFilters): AnalyticsQuery {
  const { from, params } = matchingCampaigns(organizationId, filters);
  const sql = joinLines(
    'SELECT arraySort(groupUniqArray(campaign.currency))',
    from,
    campaignConditions(filters),
  );
  return { name: 'campaign_currencies', sql, params };
}

/** Currencies of the campaigns of all creatives that match. */
export function creativeCurrencies(organizationId: string, filters: CreativeFilters): AnalyticsQuery {
  const { from, params } = matchingCreatives(organizationId, filters);
  const sql = joinLines(
    'SELECT arraySort(groupUniqArray(campaign.currency))',
    from,
    creativeConditions(filters),
  );
  return { name: 'creative_currencies', sql, params };
}
