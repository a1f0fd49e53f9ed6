/** The lists of campaigns, creatives and companies. */
import type { TSchema } from 'typebox';
import type { HandlerContext, WithText } from '../http/endpoint.js';
import { normalizeDomain } from '../search/normalize.js';
import {
  type AdEntity,
  adAttributesQuery,
  adMetricsQuery,
  adsQuery,
  CAMPAIGNS,
  CREATIVES,
  currenciesQuery,
} from './campaign-queries.js';
import { companiesQuery, companyAttributesQuery, companyMetricsQuery } from './company-queries.js';
import { requiredSums } from './metric-values.js';
import { COMPANY_METRIC_NAMES, isMoney, METRIC_NAMES, type Metric } from './metrics.js';
import {
  caseFold,
  isKnownObjective,
  isKnownStatus,
  normalizeObjective,
  normalizeStatus,
} from './normalization.js';
import {
  type AdvertisingServices,
  columnsOf,
  describe,
  endpoint,
  exampleRange,
  listing,
  PAGE_FIELDS,
} from './operation.js';
import {
  contextOf,
  type EntityList,
  itemsWithSeries,
  readIds,
  readNext,
  reportParamsOf,
  type UnsentIds,
  withSealedMonths,
} from './page.js';
import {
  listFilter,
  parsePage,
  type parseReportParams,
  type ReportParams,
  type Sort,
} from './report-params.js';
import { CampaignsRequest, CompaniesRequest, CreativesRequest } from './requests.js';
import {
  type Attributes,
  adItem,
  type CompanyTotals,
  companyItem,
  isProvisional,
} from './response-mapping.js';
import {
  CampaignItem,
  CampaignsResponse,
  CompaniesResponse,
  CompanyListItem,
  CreativeItem,
  CreativesResponse,
} from './responses.js';
import { isSparse } from './series.js';
import { type WarningFacts, warningsOf } from './warnings.js';

type Call<Body> = HandlerContext<Body, unknown, AdvertisingServices>;
type ListBody = Parameters<typeof parsePage>[0] & Parameters<typeof parseReportParams>[0];

/** What a list adds to the statements and items: what its warnings depend on. */
interface ListParts extends EntityList {
  warningFacts: Pick<WarningFacts, 'requested' | 'statuses' | 'objectiveTypes' | 'money'>;
  currencies?: Parameters<typeof contextOf>[3];
}

/** All that differs between the lists. */
interface Entity<Body> {
  metrics: readonly Metric[];
  item: TSchema;
  list(call: Call<Body>, report: ReportParams, hasSeries: boolean): Promise<ListParts>;
  hasCompanyMetrics: boolean;
}

const searchFilter = (search: string | null | undefined) => (search ? caseFold(search) : undefined);

/** Descending unless the request says otherwise. */
const sortOf = <Name extends string>(
  { sort_by, sort_direction }: { sort_by?: Name | null; sort_direction?: string | null },
  standard: Name,
): Sort<Name> => ({ by: sort_by ?? standard, descending: sort_direction !== 'asc' });

/** Values that only an entity of the organization can make known; undefined without any. */
function unknownValues(values: string[] | undefined, isKnown: (value: string) => boolean) {
  const unknown = values?.filter((value) => !isKnown(value)) ?? [];
  return unknown.length > 0 ? unknown : undefined;
}

type AdsBody<SortName extends string> = Omit<CampaignsRequest, 'sort_by'> &
  Pick<Partial<CreativesRequest>, 'creative_ids'> & { sort_by?: SortName | 'ad_spend' | null };

/** Campaigns or creatives. */
const ads = <SortName extends string>(
  item: TSchema,
  entity: AdEntity<SortName | 'ad_spend'>,
): Entity<AdsBody<SortName>> => ({
  metrics: METRIC_NAMES,
  item,
  hasCompanyMetrics: false,
  async list(call, params, hasSeries) {
    const { body } = call;
    // A series by day reads the deliveries anyway, and sums of months spare the page little.
    const readsDays = hasSeries && params.granularity === 'daily';
    const report = readsDays ? params : await withSealedMonths(call, params, 'creative');
    const filters = {
      campaignIds: listFilter(body.campaign_ids),
      creativeIds: listFilter(body.creative_ids),
      statuses: listFilter(body.statuses, normalizeStatus),
      objectiveTypes: listFilter(body.objective_types, normalizeObjective),
      search: searchFilter(body.search),
    };
    const { campaignIds, creativeIds, statuses, objectiveTypes } = filters;
    const money = requiredSums(report.metrics).some(isMoney);
    return {
      report,
      idsQuery: (page) => adsQuery(entity, { report, filters, sort: sortOf(body, 'ad_spend'), page }),
      attributesQuery: (ids) => adAttributesQuery(entity, report.organizationId, ids),
      metricsQuery: (part, ids, rows) => adMetricsQuery(entity, part, ids, rows),
      // Every known id has attributes.
      toItem: (_, attributes, totals) => adItem(report, attributes as Attributes, totals),
      currencies: money ? currenciesQuery(entity, report.organizationId, filters) : undefined,
      warningFacts: {
        requested: {
          campaignIds,
          creativeIds,
          statuses: unknownValues(statuses, isKnownStatus),
          objectiveTypes: unknownValues(objectiveTypes, isKnownObjective),
        },
        statuses: body.statuses,
        objectiveTypes: body.objective_types,
        money,
      },
    };
  },
});

const COMPANIES: Entity<CompaniesRequest> = {
  metrics: COMPANY_METRIC_NAMES,
  item: CompanyListItem,
  hasCompanyMetrics: true,
  async list(call, params) {
    const { body } = call;
    const report = await withSealedMonths(call, params, 'company');
    const filters = {
      campaignIds: listFilter(body.campaign_ids),
      companyIds: listFilter(body.company_ids),
      networkIds: listFilter(body.network_a_company_ids),
      domains: listFilter(body.domains, normalizeDomain),
      search: searchFilter(body.search),
    };
    return {
      report,
      idsQuery: (page) => companiesQuery({ report, filters, sort: sortOf(body, 'engagements'), page }),
      attributesQuery: (ids) => companyAttributesQuery(report.organizationId, ids),
      metricsQuery: (part, ids, rows) => companyMetricsQuery(part, ids, filters.campaignIds, rows),
      toItem: (id, attributes, totals) =>
        companyItem(report, id, attributes, totals as CompanyTotals | undefined),
      warningFacts: { requested: filters },
    };
  },
};

/** How a page of a list is answered, and every match of an export read. */
function entityEndpoint<Body extends ListBody>(entity: Entity<Body>) {
  return {
    ...listing,
    list: {
      item: entity.item,
      pageFields: PAGE_FIELDS,
      columns: columnsOf(entity.item, entity.metrics),
      readPage: async (call: Call<Body>, next: unknown, format: 'csv' | 'ndjson') => {
        const report = reportParamsOf(call, entity.metrics);
        const list = await entity.list(call, report, format !== 'csv');
        return readNext(call, list, next as UnsentIds | undefined, format);
      },
    },
    async handle(call: Call<Body>) {
      const params = reportParamsOf(call, entity.metrics);
      const page = parsePage(call.body, params);
      const list = await entity.list(call, params, true);
      const { report, warningFacts, currencies } = list;
      const [{ ids, total }, context] = await Promise.all([
        readIds(call, list.idsQuery(page)),
        contextOf(call, report, warningFacts.requested, currencies),
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
          ...warningFacts,
          sparse: isSparse(report, ids.length),
          companyMetrics: entity.hasCompanyMetrics && ids.length > 0,
        }),
      };
    },
  };
}

const campaigns = entityEndpoint(ads(CampaignItem, CAMPAIGNS));
export const searchCampaigns = endpoint({
  ...campaigns,
  path: '/api/advertising/network_a/campaigns',
  name: 'SearchCampaigns',
  summary: 'Search campaigns and their performance',
  description: describe('Campaigns with their figures over the range, also those without any.'),
  request: CampaignsRequest,
  response: CampaignsResponse,
  get example(): CampaignsRequest {
    return { ...exampleRange(), granularity: 'monthly', statuses: ['ACTIVE'], page_size: 1 };
  },
  handle: (call) => campaigns.handle(call) as Promise<WithText<CampaignsResponse>>,
});

const creatives = entityEndpoint(ads(CreativeItem, CREATIVES));
export const searchCreatives = endpoint({
  ...creatives,
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
  handle: (call) => creatives.handle(call) as Promise<WithText<CreativesResponse>>,
});

const companies = entityEndpoint(COMPANIES);
export const searchCompanies = endpoint({
  ...companies,
  path: '/api/advertising/network_a/companies',
  name: 'SearchCompanies',
  summary: 'Search companies and their performance',
  description: describe(
    'Companies with activity in the range, and those named in `company_ids`, `network_a_company_ids` or `domains`.',
  ),
  request: CompaniesRequest,
  response: CompaniesResponse,
  get example(): CompaniesRequest {
    return { ...exampleRange(), granularity: 'monthly', sort_by: 'engagements', page_size: 1 };
  },
  async handle(call) {
    const { provisional: _, ...response } = await companies.handle(call);
    return response as WithText<CompaniesResponse>;
  },
});
