/** The lists of campaigns, creatives and companies. */
import type { TSchema } from 'typebox';
import type { HandlerContext, WithText } from '../http/endpoint.js';
import { invalid } from '../http/problems.js';
import { previousRange } from './calendar.js';
import {
  type AdEntity,
  adAttributesQuery,
  adMetricsQuery,
  adRatesQuery,
  adsQuery,
  adTotalsQuery,
  CAMPAIGNS,
  CREATIVES,
} from './campaign-queries.js';
import {
  companiesQuery,
  companyAttributesQuery,
  companyMetricsQuery,
  companySource,
  companyTotalsQuery,
} from './company-queries.js';
import { type Attributes, adItem, type CompanyTotals, companyItem, isProvisional } from './items.js';
import { requiredSums } from './metric-values.js';
import { COMPANY_METRIC_NAMES, isAmount, isMoney, METRIC_NAMES, type Metric } from './metrics.js';
import {
  type AdvertisingContext,
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
  readRates,
  readTotals,
  reportParamsOf,
  type UnsentIds,
  withForeign,
  withSealedMonths,
} from './page.js';
import {
  checkPoints,
  type Filters,
  filtersOf,
  parsePage,
  type parseReportParams,
  type ReportParams,
  type Sort,
} from './report-params.js';
import { CampaignsRequest, CompaniesRequest, type CompareTo, CreativesRequest } from './requests.js';
import {
  CampaignItem,
  CampaignsResponse,
  CompaniesResponse,
  CompanyListItem,
  CreativeItem,
  CreativesResponse,
} from './responses.js';
import type { SourceName } from './rollups.js';
import { isSparse } from './series.js';
import { type WarningFacts, warningsOf } from './warnings.js';

type Call<Body> = HandlerContext<Body, unknown, AdvertisingServices>;
type ListBody = Parameters<typeof parsePage>[0] &
  Parameters<typeof filtersOf>[0] &
  Parameters<typeof parseReportParams>[0] & { compare_to?: CompareTo | null };

/** Statements and items of a list, and what its warnings depend on. */
interface ListParts extends EntityList {
  warningFacts: Pick<WarningFacts, 'filters' | 'statuses' | 'objectiveTypes' | 'money' | 'sortedByAmount'>;
}

/** Everything that differs between the lists of campaigns, creatives and companies. */
interface Entity<Body> {
  metrics: readonly Metric[];
  item: TSchema;
  sourceOf(filters: Filters): SourceName;
  prepare?(call: AdvertisingContext, report: ReportParams): Promise<ReportParams>;
  list(body: Body, filters: Filters, report: ReportParams): ListParts;
}

/** The requested order; descending by default. */
const sortOf = <Name extends string>(
  { sort_by, sort_direction }: { sort_by?: Name | null; sort_direction?: string | null },
  standard: Name,
): Sort<Name> => ({ by: sort_by ?? standard, descending: sort_direction !== 'asc' });

type AdsBody<SortName extends string> = Omit<CampaignsRequest, 'sort_by'> &
  Pick<Partial<CreativesRequest>, 'creative_ids'> & { sort_by?: SortName | 'ad_spend' | null };

/** Declares what differs for campaigns or creatives. */
const ads = <SortName extends string>(
  item: TSchema,
  entity: AdEntity<SortName | 'ad_spend'>,
): Entity<AdsBody<SortName>> => ({
  metrics: METRIC_NAMES,
  item,
  // A campaign has one currency, so only creatives need this step.
  ...(entity.name === 'creative' && { prepare: withForeign }),
  sourceOf: () => 'creative',
  list(body, filters, report) {
    const sort = sortOf(body, 'ad_spend');
    return {
      report,
      idsQuery: (page) => adsQuery(entity, { report, filters, sort, page }),
      totalsQuery: (range) => adTotalsQuery(entity, range, filters),
      ratesQuery: (range) => adRatesQuery(entity, range, filters),
      attributesQuery: (ids) => adAttributesQuery(entity, report.organizationId, ids),
      metricsQuery: (part, ids, rows) => adMetricsQuery(entity, part, ids, rows),
      // Every known id has attributes.
      toItem: (_, attributes, totals) => adItem(report, attributes as Attributes, totals),
      warningFacts: {
        filters,
        statuses: body.statuses,
        objectiveTypes: body.objective_types,
        money: requiredSums(report.metrics).some(isMoney),
        sortedByAmount: METRIC_NAMES.some((metric) => metric === sort.by && isAmount(metric)),
      },
    };
  },
});

const COMPANIES: Entity<CompaniesRequest> = {
  metrics: COMPANY_METRIC_NAMES,
  item: CompanyListItem,
  sourceOf: companySource,
  list(body, filters, report) {
    return {
      report,
      idsQuery: (page) => companiesQuery({ report, filters, sort: sortOf(body, 'engagements'), page }),
      totalsQuery: (range) => companyTotalsQuery(range, filters),
      attributesQuery: (ids) => companyAttributesQuery(report.organizationId, ids),
      metricsQuery: (part, ids, rows) => companyMetricsQuery(part, ids, filters.campaign_ids, rows),
      toItem: (id, attributes, totals) =>
        companyItem(report, id, attributes, totals as CompanyTotals | undefined),
      warningFacts: { filters },
    };
  },
};

const BEFORE_FIRST_YEAR = {
  pointer: '/compare_to',
  code: 'before_first_year',
  detail: 'The range to compare with would begin before the year 0000.',
};

/** Declares the operation of a list, with its pages and its export. */
function entityEndpoint<Body extends ListBody>(entity: Entity<Body>) {
  return {
    ...listing,
    list: {
      item: entity.item,
      pageFields: PAGE_FIELDS,
      columns: columnsOf(entity.item, entity.metrics),
      readPage: async (call: Call<Body>, next: unknown, format: 'csv' | 'ndjson') => {
        const parsed = reportParamsOf(call, entity.metrics);
        const params = (await entity.prepare?.(call, parsed)) ?? parsed;
        const filters = filtersOf(call.body);
        const report = await withSealedMonths(call, params, entity.sourceOf(filters));
        const list = entity.list(call.body, filters, report);
        await readRates(call, list, [params]);
        return readNext(call, list, next as UnsentIds | undefined, format);
      },
    },
    async handle(call: Call<Body>) {
      const parsed = reportParamsOf(call, entity.metrics);
      const page = parsePage(call.body);
      const { compare_to } = call.body;
      const range = compare_to && previousRange(parsed.range, compare_to);
      if (range && range.start < '0000-01-01') throw invalid(BEFORE_FIRST_YEAR);
      const params = (await entity.prepare?.(call, parsed)) ?? parsed;
      const filters = filtersOf(call.body);
      const source = entity.sourceOf(filters);
      const [report, previous] = await Promise.all([
        withSealedMonths(call, params, source),
        range ? withSealedMonths(call, { ...params, range }, source) : undefined,
      ]);
      const list = entity.list(call.body, filters, report);
      const { warningFacts } = list;
      const rates = await readRates(call, list, previous ? [report, previous] : [report]);
      const [{ ids, total }, { totals, foreignId }, previousTotals, context] = await Promise.all([
        readIds(call, list.idsQuery(page)),
        readTotals(call, list, report),
        previous && readTotals(call, list, previous),
        contextOf(call, report, warningFacts.filters),
      ]);
      checkPoints(report, ids.length);
      return {
        items: await itemsWithSeries(call, list, ids, previous),
        page: page.page,
        page_size: page.size,
        total_count: total,
        totals,
        ...(range && {
          previous_start_date: range.start,
          previous_end_date: range.end,
          previous_totals: previousTotals?.totals,
        }),
        ...rates,
        provisional: isProvisional(report),
        warnings: warningsOf({
          report,
          context,
          ...warningFacts,
          currencies: totals.flatMap(({ currency }) =>
            currency === undefined ? [] : (currency ?? 'unknown'),
          ),
          foreignId,
          sparse: isSparse(report, ids.length),
          companyMetrics: entity.metrics === COMPANY_METRIC_NAMES && ids.length > 0,
        }),
      };
    },
  };
}

const CONVERTING_PROBLEMS = [...listing.problems, 'missing_rates'] as const;

const campaigns = entityEndpoint(ads(CampaignItem, CAMPAIGNS));
export const searchCampaigns = endpoint({
  ...campaigns,
  path: '/api/advertising/network_a/campaigns',
  name: 'SearchCampaigns',
  summary: 'Search campaigns and their performance',
  description: describe('Campaigns with their figures over the range, also those without any.'),
  problems: CONVERTING_PROBLEMS,
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
  problems: CONVERTING_PROBLEMS,
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
