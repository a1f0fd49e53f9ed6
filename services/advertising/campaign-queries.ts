/** Requests about campaigns and creatives as statements. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { summedFor } from './metric-values.js';
import { METRIC_NAMES } from './metrics.js';
import type { Page, Scope, Sort } from './report-params.js';
import type { CampaignSort, CreativeSort } from './requests.js';
import {
  among,
  asciiKey,
  contains,
  figureColumns,
  given,
  IN_ORGANIZATION,
  IN_RANGE,
  lines,
  metricKey,
  orderAndPage,
  type Params,
  pageParams,
  periodStart,
  SERIES_LIMIT,
  scopeParams,
  seriesLimit,
  sums,
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
  scope: Scope;
  filters: CampaignFilters;
  sort: Sort<CampaignSort>;
  page: Page;
}

export interface CreativeFilters extends CampaignFilters {
  creativeIds?: string[];
}

export interface CreativesPlan {
  scope: Scope;
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
  UNION DISTINCT SELECT campaign_id FROM delivered WHERE ${IN_ORGANIZATION}
)`;

/** Creatives that a record describes, or else a delivery names, with their campaign (of several, the first by id). */
const KNOWN_CREATIVES = `(
  SELECT id, campaign_id FROM creatives FINAL WHERE ${IN_ORGANIZATION}
  UNION ALL
  SELECT creative_id, min(campaign_id) FROM delivered
  WHERE ${IN_ORGANIZATION} AND creative_id != ''
    AND creative_id NOT IN (SELECT id FROM creatives WHERE ${IN_ORGANIZATION})
  GROUP BY creative_id
)`;

const CAMPAIGN_RECORDS = `(SELECT * FROM campaigns FINAL WHERE ${IN_ORGANIZATION})`;
const CREATIVE_RECORDS = `(SELECT * FROM creatives FINAL WHERE ${IN_ORGANIZATION})`;

type Filtered = { from: string; params: Params };

function matchingCampaigns(organizationId: string, filters: CampaignFilters): Filtered {
  const { campaignIds, statuses, objectiveTypes, search } = filters;
  return {
    from: lines(
      `FROM ${KNOWN_CAMPAIGNS} AS known`,
      `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.id`,
    ),
    params: given({
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
    among('known.id', 'campaign_ids', campaignIds),
    among('campaign.status_key', 'statuses', statuses),
    among('campaign.objective_type_key', 'objective_types', objectiveTypes),
    contains(['campaign.name_key', 'campaign.campaign_group_name_key'], search),
  );
}

function matchingCreatives(organizationId: string, filters: CreativeFilters): Filtered {
  const { campaignIds, creativeIds, statuses, objectiveTypes, search } = filters;
  return {
    from: lines(
      `FROM ${KNOWN_CREATIVES} AS known`,
      `LEFT JOIN ${CREATIVE_RECORDS} AS creative ON creative.id = known.id`,
      `LEFT JOIN ${CAMPAIGN_RECORDS} AS campaign ON campaign.id = known.campaign_id`,
    ),
    params: given({
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
    among('known.campaign_id', 'campaign_ids', campaignIds),
    among('known.id', 'creative_ids', creativeIds),
    among('creative.status_key', 'statuses', statuses),
    among('campaign.objective_type_key', 'objective_types', objectiveTypes),
    contains(['creative.name_key', 'creative.headline_key', 'campaign.name_key'], search),
  );
}

/** Sums over the range by campaign or creative, of the deliveries broken down by creative. */
function figures(by: 'campaign_id' | 'creative_id', scope: Scope, sort: string, only: string | undefined) {
  const names = summedFor([...scope.metrics, ...METRIC_NAMES.filter((metric) => metric === sort)]);
  const condition = where(IN_ORGANIZATION, IN_RANGE, "creative_id != ''", only);
  return {
    names,
    join: `LEFT JOIN (
  SELECT ${[by, ...sums(names, 'delivery')].join(', ')}
  FROM deliveries AS delivery FINAL
  ${condition}
  GROUP BY ${by}
) AS figures ON figures.${by} = known.id`,
  };
}

const aliased = (columns: readonly string[], from: string) =>
  columns.map((column) => `${from}.${column} AS ${column}`);

/** One page of campaigns with their figures, and how many match. */
export function campaignsQuery({ scope, filters, sort, page }: CampaignsPlan): AnalyticsQuery {
  const matching = matchingCampaigns(scope.organizationId, filters);
  const { names, join } = figures(
    'campaign_id',
    scope,
    sort.by,
    among('campaign_id', 'campaign_ids', filters.campaignIds),
  );
  const columns = [
    'known.id AS id',
    ...aliased([...CAMPAIGN_COLUMNS, 'name_key'], 'campaign'),
    'ifNull(counted.creatives, 0) AS creatives_count',
    ...figureColumns(names, 'figures'),
  ];
  return {
    name: 'campaigns_page',
    sql: lines(
      `SELECT ${columns.join(', ')}`,
      matching.from,
      join,
      `LEFT JOIN (SELECT campaign_id, count() AS creatives FROM ${KNOWN_CREATIVES} GROUP BY campaign_id) AS counted ON counted.campaign_id = known.id`,
      campaignConditions(filters),
      orderAndPage(sort, CAMPAIGN_KEYS),
    ),
    params: { ...matching.params, ...scopeParams(scope), ...pageParams(page) },
  };
}

/** One page of creatives with their figures, and how many match. */
export function creativesQuery({ scope, filters, sort, page }: CreativesPlan): AnalyticsQuery {
  const matching = matchingCreatives(scope.organizationId, filters);
  const { names, join } = figures(
    'creative_id',
    scope,
    sort.by,
    among('creative_id', 'creative_ids', filters.creativeIds),
  );
  const columns = [
    'known.id AS id',
    'known.campaign_id AS campaign_id',
    'campaign.name AS campaign_name',
    'campaign.name_key AS campaign_name_key',
    'campaign.currency AS currency',
    ...aliased([...CREATIVE_COLUMNS, 'name_key'], 'creative'),
    ...figureColumns(names, 'figures'),
  ];
  return {
    name: 'creatives_page',
    sql: lines(
      `SELECT ${columns.join(', ')}`,
      matching.from,
      join,
      creativeConditions(filters),
      orderAndPage(sort, CREATIVE_KEYS),
    ),
    params: { ...matching.params, ...scopeParams(scope), ...pageParams(page) },
  };
}

/** Sums by period of some campaigns or creatives; periods without deliveries have no row. */
export function seriesQuery(
  by: 'campaign_id' | 'creative_id',
  scope: Scope,
  ids: readonly string[],
): AnalyticsQuery {
  const names = summedFor(scope.metrics);
  return {
    name: by === 'campaign_id' ? 'campaigns_series' : 'creatives_series',
    sql: lines(
      `SELECT ${[`${by} AS id`, `${periodStart(scope.granularity)} AS day`, ...sums(names, 'delivery')].join(', ')}`,
      'FROM deliveries AS delivery FINAL',
      where(IN_ORGANIZATION, IN_RANGE, "creative_id != ''", among(by, 'ids', ids)),
      'GROUP BY id, day',
      SERIES_LIMIT,
    ),
    params: { ...scopeParams(scope), ids, ...seriesLimit(scope, ids) },
  };
}

/** Currencies of all campaigns that match, not only of those of the page. */
export function campaignCurrencies(organizationId: string, filters: CampaignFilters): AnalyticsQuery {
  const { from, params } = matchingCampaigns(organizationId, filters);
  const sql = lines('SELECT arraySort(groupUniqArray(campaign.currency))', from, campaignConditions(filters));
  return { name: 'campaign_currencies', sql, params };
}

/** Currencies of the campaigns of all creatives that match. */
export function creativeCurrencies(organizationId: string, filters: CreativeFilters): AnalyticsQuery {
  const { from, params } = matchingCreatives(organizationId, filters);
  const sql = lines('SELECT arraySort(groupUniqArray(campaign.currency))', from, creativeConditions(filters));
  return { name: 'creative_currencies', sql, params };
}
