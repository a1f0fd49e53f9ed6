/** The lists of campaigns and of creatives. */
import type { TSchema } from 'typebox';
import type { HandlerContext, MatchList } from '../http/endpoint.js';
import {
  type AdEntity,
  adAttributesQuery,
  adFiguresQuery,
  adsQuery,
  CAMPAIGNS,
  CREATIVES,
  currenciesQuery,
} from './campaign-queries.js';
import { requiredSums } from './metric-values.js';
import { isMoney, METRIC_NAMES } from './metrics.js';
import { isKnownObjective, isKnownStatus, normalizeObjective, normalizeStatus } from './normalization.js';
import {
  type AdvertisingServices,
  columnsOf,
  describe,
  endpoint,
  exampleRange,
  listing,
  PAGE_FIELDS,
} from './operation.js';
import { itemsWithSeries, readIds, readNext, searchFilter, sortOf, type UnsentIds } from './report-list.js';
import { listFilter, type Page, parsePage, type ReportParams } from './report-params.js';
import { contextOf, reportParamsOf, withSealedMonths } from './report-queries.js';
import { CampaignsRequest, CreativesRequest } from './requests.js';
import { type AdAttributes, type AdFields, adItem, isProvisional } from './response-mapping.js';
import {
  CampaignItem,
  CampaignsResponse,
  CreativeItem,
  CreativesResponse,
  campaignFields,
  creativeFields,
} from './responses.js';
import { isSparse, type SeriesRow } from './series.js';
import type { FigureRows } from './series-query.js';
import { warningsOf } from './warnings.js';

const showsMoney = (report: ReportParams) => requiredSums(report.metrics).some(isMoney);

/** Values that only an entity of the organization can make known; undefined without any. */
function unknownValues(values: string[] | undefined, isKnown: (value: string) => boolean) {
  const unknown = values?.filter((value) => !isKnown(value)) ?? [];
  return unknown.length > 0 ? unknown : undefined;
}

type AdsBody<SortName extends string> = Omit<CampaignsRequest, 'sort_by'> &
  Pick<Partial<CreativesRequest>, 'creative_ids'> & { sort_by?: SortName | 'ad_spend' | null };

/** Campaigns or creatives as a request asks for them. */
async function adList<SortName extends string, Fields extends AdFields>(
  call: HandlerContext<AdsBody<SortName>, unknown, AdvertisingServices>,
  entity: AdEntity<SortName | 'ad_spend'>,
  fields: Fields,
) {
  const { body } = call;
  const params = reportParamsOf(call, METRIC_NAMES);
  // A series by day reads the deliveries anyway, and sums of months spare the page little.
  const report = params.granularity === 'daily' ? params : await withSealedMonths(call, params, 'creative');
  const filters = {
    campaignIds: listFilter(body.campaign_ids),
    creativeIds: listFilter(body.creative_ids),
    statuses: listFilter(body.statuses, normalizeStatus),
    objectiveTypes: listFilter(body.objective_types, normalizeObjective),
    search: searchFilter(body.search),
  };
  return {
    report,
    filters,
    query: (page: Page) => adsQuery(entity, { report, filters, sort: sortOf(body, 'ad_spend'), page }),
    attributesQuery: (ids: string[]) => adAttributesQuery(entity, report.organizationId, ids),
    figuresQuery: (part: ReportParams, ids: string[], figureRows: FigureRows) =>
      adFiguresQuery(entity, part, ids, figureRows),
    // Every known id has attributes.
    toItem: (_: string, attributes: AdAttributes<Fields> | undefined, totals: SeriesRow | undefined) =>
      adItem(fields, report, attributes as AdAttributes<Fields>, totals),
  };
}

/** One page of campaigns or creatives, with their series. */
async function listAds<SortName extends string, Fields extends AdFields>(
  call: HandlerContext<AdsBody<SortName>, unknown, AdvertisingServices>,
  entity: AdEntity<SortName | 'ad_spend'>,
  fields: Fields,
) {
  const { body, organizationId } = call;
  const page = parsePage(body, reportParamsOf(call, METRIC_NAMES));
  const list = await adList(call, entity, fields);
  const { report, filters, query } = list;
  const { campaignIds, creativeIds, statuses, objectiveTypes } = filters;
  const requested = {
    campaignIds,
    creativeIds,
    statuses: unknownValues(statuses, isKnownStatus),
    objectiveTypes: unknownValues(objectiveTypes, isKnownObjective),
  };
  const money = showsMoney(report);
  const currencies = money ? currenciesQuery(entity, organizationId, filters) : undefined;
  const [{ ids, total }, context] = await Promise.all([
    readIds(call, query(page)),
    contextOf(call, report, requested, currencies),
  ]);
  return {
    items: await itemsWithSeries(call, list, ids),
    page: page.page,
    page_size: page.size,
    total_count: total,
    provisional: isProvisional(report),
    warnings: warningsOf({
      report,
      context,
      requested,
      statuses: body.statuses,
      objectiveTypes: body.objective_types,
      sparse: isSparse(report, ids.length),
      money,
    }),
  };
}

/** Every campaign or creative of a list, in its order. */
const everyAd = <SortName extends string, Fields extends AdFields>(
  item: TSchema,
  entity: AdEntity<SortName | 'ad_spend'>,
  fields: Fields,
): MatchList<AdsBody<SortName>, AdvertisingServices> => ({
  item,
  columns: columnsOf(item, METRIC_NAMES),
  pageFields: PAGE_FIELDS,
  readPage: async (call, next, format) =>
    readNext(call, await adList(call, entity, fields), next as UnsentIds | undefined, format),
});

export const searchCampaigns = endpoint({
  ...listing,
  path: '/api/advertising/network_a/campaigns',
  name: 'SearchCampaigns',
  summary: 'Search campaigns and their performance',
  description: describe('Campaigns with their figures over the range, also those without any.'),
  request: CampaignsRequest,
  response: CampaignsResponse,
  get example(): CampaignsRequest {
    return { ...exampleRange(), granularity: 'monthly', statuses: ['ACTIVE'], page_size: 1 };
  },
  list: everyAd(CampaignItem, CAMPAIGNS, campaignFields),
  handle: (call) => listAds(call, CAMPAIGNS, campaignFields),
});

export const searchCreatives = endpoint({
  ...listing,
  path: '/api/advertising/network_a/creatives',
  name: 'SearchCreatives',
  summary: 'Search creatives and their performance',
  description: describe(
    'Creatives with their figures over the range, also those without any. `statuses` are of the creative, `objective_types` of its campaign.',
  ),
  request: CreativesRequest,
  response: CreativesResponse,
  get example(): CreativesRequest {
    return { ...exampleRange(), granularity: 'monthly', sort_by: 'ctr', page_size: 1 };
  },
  list: everyAd(CreativeItem, CREATIVES, creativeFields),
  handle: (call) => listAds(call, CREATIVES, creativeFields),
});
