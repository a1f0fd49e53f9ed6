/** The four operations on advertising. */
import { endpointsWith, type HandlerContext } from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import { normalizeDomain } from '../search/normalize.js';
import { type Clock, utcDate } from '../shared/time.js';
import type { FieldError } from '../shared/validation.js';
import type { AnalyticsQuery, AnalyticsReader } from './analytics-store.js';
import { addDays } from './calendar.js';
import {
  campaignCurrencies,
  campaignsQuery,
  creativeCurrencies,
  creativesQuery,
  seriesQuery,
} from './campaign-queries.js';
import {
  companiesByDomainQuery,
  companiesQuery,
  companyByIdQuery,
  companyCampaignsQuery,
  companyReachQuery,
  companySeriesQuery,
  OUR_ID,
} from './company-queries.js';
import { type ContextRow, contextQuery, type RequestedIds } from './context-query.js';
import { addCounts, metricWriter, requiredSums } from './metric-values.js';
import { COMPANY_METRIC_NAMES, METRIC_NAMES, SUMMED_METRICS, type SummedMetric } from './metrics.js';
import {
  caseFold,
  isKnownObjective,
  isKnownStatus,
  normalizeObjective,
  normalizeStatus,
} from './normalization.js';
import { filter, parsePage, parseReportParams, type ReportParams } from './report-params.js';
import { CampaignsRequest, CompaniesRequest, CompanyRequest, CreativesRequest } from './requests.js';
import {
  type CampaignRow,
  type CompanyAttributes,
  type CompanyCampaignRow,
  type CompanyRow,
  type CreativeRow,
  campaignItem,
  companyAttributes,
  companyCampaign,
  companyItem,
  creativeItem,
  type Reach,
} from './response-mapping.js';
import { CampaignsResponse, CompaniesResponse, CompanyResponse, CreativesResponse } from './responses.js';
import { isSparse, type Point, SeriesBuilder, type SeriesRow, seriesParts } from './series.js';
import { warningsOf } from './warnings.js';

export interface AdvertisingServices {
  analytics: AnalyticsReader;
  clock: Clock;
  /** Days before today whose figures networks still restate (contract 5.11). */
  provisionalDays: number;
}

const endpoint = endpointsWith<AdvertisingServices>();

type AnyCall = HandlerContext<unknown, unknown, AdvertisingServices>;

/** Last month, so that the example has figures wherever the sample data is recent. */
const exampleRange = () => {
  const today = utcDate(Date.now());
  return { start_date: addDays(today, -31), end_date: addDays(today, -1) };
};

/** Only values that are known match; where none of those given is known, nothing matches. */
const knownFilter = (
  values: readonly string[] | null | undefined,
  isKnown: (value: string) => boolean,
  key: (value: string) => string,
) => filter(values)?.filter(isKnown).map(key);

type Given = readonly string[] | null | undefined;
const statusFilter = (values: Given) => knownFilter(values, isKnownStatus, normalizeStatus);
const objectiveFilter = (values: Given) => knownFilter(values, isKnownObjective, normalizeObjective);
const searchFilter = (search: string | null | undefined) => (search ? caseFold(search) : undefined);

const showsMoney = (report: ReportParams) =>
  requiredSums(report.metrics).some((name: SummedMetric) => SUMMED_METRICS[name].kind === 'money');

function reportParamsOf<Body extends Parameters<typeof parseReportParams>[0]>(
  { body, organizationId, services }: HandlerContext<Body, unknown, AdvertisingServices>,
  metrics: readonly (typeof METRIC_NAMES)[number][],
  problems?: FieldError[],
): ReportParams {
  const { clock, provisionalDays } = services;
  return parseReportParams(body, metrics, organizationId, { now: clock.now(), provisionalDays }, problems);
}

const run = <Row>({ services, signal }: AnyCall, query: AnalyticsQuery) =>
  services.analytics.query<Row>(query, signal);

async function contextOf(
  call: AnyCall,
  { today }: ReportParams,
  requested: RequestedIds,
  currencies?: AnalyticsQuery,
): Promise<ContextRow> {
  const { rows } = await run<ContextRow>(
    call,
    contextQuery(call.organizationId, today, requested, currencies),
  );
  return rows[0] as ContextRow;
}

/** The series of the items of a page; asks nothing for an empty page. */
async function pageSeries(
  call: AnyCall,
  report: ReportParams,
  ids: string[],
  query: (part: ReportParams) => AnalyticsQuery,
): Promise<(id: string) => Point[]> {
  const series = new SeriesBuilder(report, ids);
  for (const part of ids.length === 0 ? [] : seriesParts(report, ids.length)) {
    const { rows } = await run<SeriesRow>(call, query(part));
    await series.append(part.range, rows, call.signal);
  }
  return (id) => series.pointsOf(id);
}

const description = (what: string) =>
  `${what}\n\nSums are of the newest report of each day: of money exact, of counts exact up to 2^53. \`warnings\` say what to know when reading the figures.`;

export const searchCampaigns = endpoint({
  path: '/api/advertising/network_a/campaigns',
  summary: 'Search campaigns and their performance',
  description: description('Campaigns with their figures over the range, also those without any.'),
  tag: 'Advertising',
  scope: 'advertising:read',
  request: CampaignsRequest,
  slots: () => 4,
  response: CampaignsResponse,
  get example(): CampaignsRequest {
    return { ...exampleRange(), statuses: ['ACTIVE'], sort_by: 'ad_spend', page_size: 10 };
  },
  problems: ['too_many_points'],
  async handle(call) {
    const { body, organizationId } = call;
    const report = reportParamsOf(call, METRIC_NAMES);
    const filters = {
      campaignIds: filter(body.campaign_ids),
      statuses: statusFilter(body.statuses),
      objectiveTypes: objectiveFilter(body.objective_types),
      search: searchFilter(body.search),
    };
    const sort = { by: body.sort_by ?? 'ad_spend', descending: body.sort_direction !== 'asc' };
    const page = parsePage(body, report);
    const requested = { campaignIds: filters.campaignIds };
    const money = showsMoney(report);
    const [{ rows, total }, context] = await Promise.all([
      run<CampaignRow>(call, campaignsQuery({ report, filters, sort, page })),
      contextOf(call, report, requested, money ? campaignCurrencies(organizationId, filters) : undefined),
    ]);
    const ids = rows.map(({ id }) => id);
    const series = await pageSeries(call, report, ids, (part) => seriesQuery('campaign_id', part, ids));
    return {
      items: rows.map((row) => campaignItem(report, row, series(row.id))),
      page: page.page,
      page_size: page.size,
      total_count: total,
      provisional: report.range.end > report.lastFinalDay,
      warnings: warningsOf({
        report,
        context,
        requested,
        statuses: body.statuses,
        objectiveTypes: body.objective_types,
        sparse: isSparse(report, rows.length),
        money,
      }),
    };
  },
});

export const searchCreatives = endpoint({
  path: '/api/advertising/network_a/creatives',
  summary: 'Search creatives and their performance',
  description: description(
    'Creatives with their figures over the range, also those without any. `statuses` are of the creative, `objective_types` of its campaign.',
  ),
  tag: 'Advertising',
  scope: 'advertising:read',
  request: CreativesRequest,
  slots: () => 4,
  response: CreativesResponse,
  get example(): CreativesRequest {
    return { ...exampleRange(), granularity: 'monthly', sort_by: 'ctr', page_size: 10 };
  },
  problems: ['too_many_points'],
  async handle(call) {
    const { body, organizationId } = call;
    const report = reportParamsOf(call, METRIC_NAMES);
    const filters = {
      campaignIds: filter(body.campaign_ids),
      creativeIds: filter(body.creative_ids),
      statuses: statusFilter(body.statuses),
      objectiveTypes: objectiveFilter(body.objective_types),
      search: searchFilter(body.search),
    };
    const sort = { by: body.sort_by ?? 'ad_spend', descending: body.sort_direction !== 'asc' };
    const page = parsePage(body, report);
    const requested = { campaignIds: filters.campaignIds, creativeIds: filters.creativeIds };
    const money = showsMoney(report);
    const [{ rows, total }, context] = await Promise.all([
      run<CreativeRow>(call, creativesQuery({ report, filters, sort, page })),
      contextOf(call, report, requested, money ? creativeCurrencies(organizationId, filters) : undefined),
    ]);
    const ids = rows.map(({ id }) => id);
    const series = await pageSeries(call, report, ids, (part) => seriesQuery('creative_id', part, ids));
    return {
      items: rows.map((row) => creativeItem(report, row, series(row.id))),
      page: page.page,
      page_size: page.size,
      total_count: total,
      provisional: report.range.end > report.lastFinalDay,
      warnings: warningsOf({
        report,
        context,
        requested,
        statuses: body.statuses,
        objectiveTypes: body.objective_types,
        sparse: isSparse(report, rows.length),
        money,
      }),
    };
  },
});

/** How many campaigns the companies of a page saw. */
async function pageReach(
  call: AnyCall,
  report: ReportParams,
  ids: string[],
  campaignIds: string[] | undefined,
) {
  if (ids.length === 0) return new Map<string, Reach>();
  const { rows } = await run<Reach & { id: string }>(call, companyReachQuery(report, ids, campaignIds));
  return new Map(rows.map((row) => [row.id, row]));
}

export const searchCompanies = endpoint({
  path: '/api/advertising/network_a/companies',
  summary: 'Search companies and their performance',
  description: description(
    'Companies with activity in the range, and those named in `company_ids`, `network_a_company_ids` or `domains`.',
  ),
  tag: 'Advertising',
  scope: 'advertising:read',
  request: CompaniesRequest,
  slots: () => 4,
  response: CompaniesResponse,
  get example(): CompaniesRequest {
    return { ...exampleRange(), granularity: 'monthly', sort_by: 'engagements', page_size: 10 };
  },
  problems: ['too_many_points'],
  async handle(call) {
    const { body } = call;
    const report = reportParamsOf(call, COMPANY_METRIC_NAMES);
    const filters = {
      campaignIds: filter(body.campaign_ids),
      companyIds: filter(body.company_ids),
      networkIds: filter(body.network_a_company_ids),
      domains: filter(body.domains, normalizeDomain),
      search: searchFilter(body.search),
    };
    const sort = { by: body.sort_by ?? 'engagements', descending: body.sort_direction !== 'asc' };
    const page = parsePage(body, report);
    const [{ rows, total }, context] = await Promise.all([
      run<CompanyRow>(call, companiesQuery({ report, filters, sort, page })),
      contextOf(call, report, filters),
    ]);
    const ids = rows.map(({ id }) => id);
    const [series, reach] = await Promise.all([
      pageSeries(call, report, ids, (part) => companySeriesQuery(part, ids, filters.campaignIds)),
      pageReach(call, report, ids, filters.campaignIds),
    ]);
    return {
      items: rows.map((row) => companyItem(report, row, reach.get(row.id), series(row.id))),
      page: page.page,
      page_size: page.size,
      total_count: total,
      warnings: warningsOf({
        report,
        context,
        requested: filters,
        sparse: isSparse(report, rows.length),
        companyFigures: rows.length > 0,
      }),
    };
  },
});

const CANDIDATES_AT_MOST = 20;

/** The company a request means, or a 404 or 409. */
async function findCompany(
  call: HandlerContext<CompanyRequest, unknown, AdvertisingServices>,
): Promise<CompanyAttributes> {
  const { body, organizationId } = call;
  if (body.company_id) {
    const { rows, total } = await run<CompanyAttributes & { rank: number }>(
      call,
      companyByIdQuery(organizationId, body.company_id, CANDIDATES_AT_MOST),
    );
    const [company, other] = rows;
    if (company && (company.rank === OUR_ID || !other)) return company;
    if (company) {
      throw ambiguous(
        'ambiguous_company',
        `${total} companies have the network_a id ${body.company_id}`,
        call,
        rows,
      );
    }
    throw new Problem('company_not_found', `There is no company ${body.company_id}.`, {
      organization_id: organizationId,
    });
  }
  const domain = normalizeDomain(body.domain as string);
  const { rows, total } = await run<CompanyAttributes>(
    call,
    companiesByDomainQuery(organizationId, domain, CANDIDATES_AT_MOST),
  );
  const [company, other] = rows;
  if (!company) {
    throw new Problem('company_not_found', `No company has the domain ${domain}.`, {
      organization_id: organizationId,
    });
  }
  if (!other) return company;
  throw ambiguous('ambiguous_domain', `${total} companies have the domain ${domain}`, call, rows);
}

function ambiguous(
  code: 'ambiguous_company' | 'ambiguous_domain',
  what: string,
  { organizationId }: AnyCall,
  rows: readonly CompanyAttributes[],
): Problem {
  return new Problem(code, `${what}; give the id of one as company_id.`, {
    organization_id: organizationId,
    candidates: rows.map(({ id, network_a_company_id, name }) => ({ id, network_a_company_id, name })),
  });
}

export const getCompany = endpoint({
  path: '/api/advertising/network_a/company',
  summary: 'Get the analytics of one company',
  description: description(
    'Totals, series and campaigns of one company. Exactly one of `company_id` and `domain` is given; `campaign_ids` narrows everything.',
  ),
  tag: 'Advertising',
  scope: 'advertising:read',
  request: CompanyRequest,
  slots: () => 2,
  response: CompanyResponse,
  get example(): CompanyRequest {
    return { ...exampleRange(), granularity: 'monthly', company_id: 'cmp_0001' };
  },
  problems: ['company_not_found', 'ambiguous_company', 'ambiguous_domain'],
  async handle(call) {
    const { body } = call;
    const problem = {
      pointer: '/company_id',
      code: 'exactly_one_of',
      detail: 'Exactly one of company_id and domain must be given.',
    };
    const report = reportParamsOf(
      call,
      COMPANY_METRIC_NAMES,
      !body.company_id === !body.domain ? [problem] : [],
    );
    const company = await findCompany(call);
    const campaignIds = filter(body.campaign_ids);
    const page = { page: body.campaign_page ?? 1, size: body.campaign_page_size ?? 50 };
    const [periods, campaigns, context] = await Promise.all([
      run<SeriesRow & { active: boolean }>(call, companySeriesQuery(report, [company.id], campaignIds)),
      run<CompanyCampaignRow>(call, companyCampaignsQuery(report, company.id, campaignIds, page)),
      contextOf(call, report, { campaignIds }),
    ]);
    const series = new SeriesBuilder(report, [company.id]);
    await series.append(report.range, periods.rows, call.signal);
    return {
      company: companyAttributes(company),
      start_date: report.range.start,
      end_date: report.range.end,
      granularity: report.granularity,
      totals: metricWriter(report.metrics)({}, addCounts(periods.rows, requiredSums(report.metrics))),
      timeseries: series.pointsOf(company.id),
      campaigns: campaigns.rows.map((row) => companyCampaign(report, row)),
      campaign_page: page.page,
      campaign_page_size: page.size,
      campaign_total_count: campaigns.total,
      provisional: report.range.end > report.lastFinalDay,
      warnings: warningsOf({
        report,
        context,
        requested: { campaignIds },
        sparse: isSparse(report, 1),
        companyFigures: periods.rows.some(({ active }) => active),
      }),
    };
  },
});

export const advertisingEndpoints = [searchCampaigns, searchCreatives, searchCompanies, getCompany];
