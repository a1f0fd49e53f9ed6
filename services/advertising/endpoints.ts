/** The four operations on advertising. */
import type { TSchema } from 'typebox';
import {
  type ExportFormat,
  endpointsWith,
  type HandlerContext,
  type MatchList,
  type MatchPage,
} from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import { normalizeDomain } from '../search/normalize.js';
import { type Json, JsonText } from '../shared/json.js';
import { type Clock, utcDate } from '../shared/time.js';
import type { FieldError } from '../shared/validation.js';
import type { AnalyticsQuery, AnalyticsReader } from './analytics-store.js';
import { addDays } from './calendar.js';
import {
  type AdEntity,
  adSeriesQuery,
  adsQuery,
  CAMPAIGNS,
  CREATIVES,
  currenciesQuery,
} from './campaign-queries.js';
import {
  companiesByDomainQuery,
  companiesQuery,
  companyAttributesQuery,
  companyByIdQuery,
  companyCampaignsQuery,
  companyFiguresQuery,
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
import {
  listFilter,
  type Page,
  parsePage,
  parseReportParams,
  type ReportParams,
  type SealedMonth,
  type Sort,
} from './report-params.js';
import { CampaignsRequest, CompaniesRequest, CompanyRequest, CreativesRequest } from './requests.js';
import {
  type AdFields,
  type AdRow,
  adItem,
  type CompanyAttributes,
  type CompanyCampaignRow,
  type CompanyRow,
  companyCampaign,
  companyIdentity,
  companyItem,
  isProvisional,
  type Reach,
  withSeries,
} from './response-mapping.js';
import {
  CampaignItem,
  CampaignsResponse,
  CompaniesResponse,
  CompanyListItem,
  CompanyResponse,
  CreativeItem,
  CreativesResponse,
  campaignFields,
  companyFields,
  creativeFields,
} from './responses.js';
import { type SourceName, sealedMonthsQuery, wholeMonths } from './rollups.js';
import {
  completeItems,
  isSparse,
  type Point,
  type PrintedRow,
  parsePrintedRow,
  rowPrinter,
  SeriesBuilder,
  type SeriesRow,
  seriesParts,
} from './series.js';
import { printedSeries } from './series-query.js';
import { warningsOf } from './warnings.js';

export interface AdvertisingServices {
  analytics: AnalyticsReader;
  clock: Clock;
  /** Days before today that networks still restate (contract 5.11). */
  provisionalDays: number;
}

const endpoint = endpointsWith<AdvertisingServices>();

type AnyCall = HandlerContext<unknown, unknown, AdvertisingServices>;

/** Last month, for which recent sample data has deliveries. */
const exampleRange = () => {
  const today = utcDate(Date.now());
  return { start_date: addDays(today, -31), end_date: addDays(today, -1) };
};

/** Unknown values match nothing; when every given value is unknown, the filter is empty and nothing matches. */
const knownFilter = (
  values: readonly string[] | null | undefined,
  isKnown: (value: string) => boolean,
  normalize: (value: string) => string,
) => listFilter(values)?.filter(isKnown).map(normalize);

const searchFilter = (search: string | null | undefined) => (search ? caseFold(search) : undefined);

/** Descending unless the request says otherwise. */
const sortOf = <Name extends string>(
  { sort_by, sort_direction }: { sort_by?: Name | null; sort_direction?: string | null },
  standard: Name,
): Sort<Name> => ({ by: sort_by ?? standard, descending: sort_direction !== 'asc' });

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

/** The report with the months whose sums may stand for their deliveries. */
async function withSealedMonths(
  call: AnyCall,
  report: ReportParams,
  source: SourceName,
): Promise<ReportParams> {
  const months = wholeMonths(report.range);
  if (months.length === 0) return report;
  const { rows } = await run<SealedMonth>(call, sealedMonthsQuery(report.organizationId, source, months));
  return { ...report, sealed: rows };
}

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

/** Sums by period that the store prints itself, or as its rows where it cannot print one of them. */
async function printedRows(
  { services, signal }: AnyCall,
  part: ReportParams,
  ids: readonly string[],
  query: AnalyticsQuery,
): Promise<PrintedRow[]> {
  const lines = await services.analytics.queryLines(printedSeries(query, part), signal);
  const printed: PrintedRow[] = [];
  for (const line of lines) {
    const row = parsePrintedRow(line, ids);
    if (row === null) {
      const { rows } = await services.analytics.query<SeriesRow>(query, signal);
      return rows.map(rowPrinter(part.metrics));
    }
    printed.push(row);
  }
  return printed;
}

/** The series of the items of a page; an empty page queries nothing. */
async function pageSeries(
  call: AnyCall,
  report: ReportParams,
  ids: string[],
  query: (part: ReportParams) => AnalyticsQuery,
): Promise<(id: string) => Json<Point[]>> {
  const series = new SeriesBuilder(report, ids);
  for (const part of ids.length === 0 ? [] : seriesParts(report, ids.length)) {
    await series.append(part.range, await printedRows(call, part, ids, query(part)), call.signal);
  }
  return (id) => series.seriesOf(id);
}

const describe = (what: string) =>
  `${what}\n\nSums are of the newest report of each day: of money exact, of counts exact up to 2^53. \`warnings\` say what to know when reading the figures.`;

const advertising = { tag: 'Advertising', scope: 'advertising:read' } as const;
const PAGE_FIELDS = ['page', 'page_size'];
const listing = { ...advertising, slots: () => 4, problems: ['too_many_points'] } as const;

type AdsBody<SortName extends string> = Omit<CampaignsRequest, 'sort_by'> &
  Pick<Partial<CreativesRequest>, 'creative_ids'> & { sort_by?: SortName | 'ad_spend' | null };

/** Rows of a list that an export has read and not sent yet. */
interface UnsentRows<Row> {
  rows: Row[];
  /** Rows read so far. */
  read: number;
  total: number;
}

interface RowList<Row, Item extends { id: string }> {
  report: ReportParams;
  query(page: Page): AnalyticsQuery;
  /** The items of rows, without their series. */
  toItems(rows: Row[]): Promise<Item[]>;
  seriesOf(ids: string[]): Promise<(id: string) => Json<Point[]>>;
}

async function itemsWithSeries<Row extends { id: string }, Item extends { id: string }>(
  { toItems, seriesOf }: Pick<RowList<Row, Item>, 'toItems' | 'seriesOf'>,
  rows: Row[],
) {
  const [items, series] = await Promise.all([toItems(rows), seriesOf(rows.map(({ id }) => id))]);
  return items.map((item) => withSeries(item, series(item.id)));
}

/** Rows that an export reads in one statement: each statement computes all, and orders it. */
const EXPORT_ROWS = 2000;

/** The next rows of a list with their series, as many as have every period (contract 5.4). */
async function readRows<Row extends { id: string }, Item extends { id: string }>(
  call: AnyCall,
  list: RowList<Row, Item>,
  unsent: UnsentRows<Row> | undefined,
  format: ExportFormat,
): Promise<MatchPage> {
  const { report, query, toItems } = list;
  let { rows, read, total } = unsent ?? { rows: [], read: 0, total: 0 };
  if (rows.length === 0) {
    ({ rows, total } = await run<Row>(call, query({ page: read / EXPORT_ROWS + 1, size: EXPORT_ROWS })));
    read += EXPORT_ROWS;
  }
  const count = format === 'csv' ? rows.length : completeItems(report);
  const some = rows.slice(0, count);
  const rest = rows.slice(count);
  return {
    // CSV has no room for series.
    items:
      format === 'csv' ? await toItems(some) : (await itemsWithSeries(list, some)).map(({ text }) => text),
    total,
    next: rest.length > 0 || read < total ? { rows: rest, read, total } : null,
  };
}

/** Campaigns or creatives as a request asks for them. */
async function adList<SortName extends string, Fields extends AdFields>(
  call: HandlerContext<AdsBody<SortName>, unknown, AdvertisingServices>,
  entity: AdEntity<SortName | 'ad_spend'>,
  fields: Fields,
) {
  const { body } = call;
  const report = await withSealedMonths(call, reportParamsOf(call, METRIC_NAMES), 'creative');
  const requested = {
    campaignIds: listFilter(body.campaign_ids),
    creativeIds: listFilter(body.creative_ids),
  };
  const filters = {
    ...requested,
    statuses: knownFilter(body.statuses, isKnownStatus, normalizeStatus),
    objectiveTypes: knownFilter(body.objective_types, isKnownObjective, normalizeObjective),
    search: searchFilter(body.search),
  };
  return {
    report,
    requested,
    filters,
    query: (page: Page) => adsQuery(entity, { report, filters, sort: sortOf(body, 'ad_spend'), page }),
    toItems: async (rows: AdRow<Fields>[]) => rows.map((row) => adItem(fields, report, row)),
    seriesOf: (ids: string[]) => pageSeries(call, report, ids, (part) => adSeriesQuery(entity, part, ids)),
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
  const { report, requested, filters, query } = list;
  const money = showsMoney(report);
  const currencies = money ? currenciesQuery(entity, organizationId, filters) : undefined;
  const [{ rows, total }, context] = await Promise.all([
    run<AdRow<Fields>>(call, query(page)),
    contextOf(call, report, requested, currencies),
  ]);
  return {
    items: await itemsWithSeries(list, rows),
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
      sparse: isSparse(report, rows.length),
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
  pageFields: PAGE_FIELDS,
  readPage: async (call, next, format) =>
    readRows(call, await adList(call, entity, fields), next as UnsentRows<AdRow<Fields>> | undefined, format),
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

/** The number of campaigns that each company of a page saw. */
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

/** The figures of the companies of a page. */
async function pageFigures(
  call: AnyCall,
  report: ReportParams,
  ids: string[],
  campaignIds: string[] | undefined,
): Promise<(id: string) => CompanyRow> {
  const none = (id: string) => ({ id, first_seen: null, last_seen: null });
  if (ids.length === 0) return none;
  const { rows } = await run<CompanyRow>(call, companyFiguresQuery(report, ids, campaignIds));
  const known = new Map(rows.map((row) => [row.id, row]));
  return (id) => known.get(id) ?? none(id);
}

/** The attributes of the companies of a page, null where nothing describes one. */
async function pageAttributes(call: AnyCall, ids: string[]): Promise<(id: string) => CompanyAttributes> {
  const unknown = Object.fromEntries(Object.keys(companyFields).map((name) => [name, null]));
  if (ids.length === 0) return (id) => ({ ...unknown, id }) as CompanyAttributes;
  const { rows } = await run<CompanyAttributes>(call, companyAttributesQuery(call.organizationId, ids));
  const known = new Map(rows.map((row) => [row.id, row]));
  return (id) => known.get(id) ?? ({ ...unknown, id } as CompanyAttributes);
}

/** Companies as a request asks for them. */
async function companyList(call: HandlerContext<CompaniesRequest, unknown, AdvertisingServices>) {
  const { body } = call;
  const report = await withSealedMonths(call, reportParamsOf(call, COMPANY_METRIC_NAMES), 'company');
  const filters = {
    campaignIds: listFilter(body.campaign_ids),
    companyIds: listFilter(body.company_ids),
    networkIds: listFilter(body.network_a_company_ids),
    domains: listFilter(body.domains, normalizeDomain),
    search: searchFilter(body.search),
  };
  const { campaignIds } = filters;
  return {
    report,
    filters,
    query: (page: Page) => companiesQuery({ report, filters, sort: sortOf(body, 'engagements'), page }),
    async toItems(rows: { id: string }[]) {
      const ids = rows.map(({ id }) => id);
      const [figures, reach, attributes] = await Promise.all([
        pageFigures(call, report, ids, campaignIds),
        pageReach(call, report, ids, campaignIds),
        pageAttributes(call, ids),
      ]);
      return ids.map((id) => companyItem(report, { ...figures(id), ...attributes(id) }, reach.get(id)));
    },
    seriesOf: (ids: string[]) =>
      pageSeries(call, report, ids, (part) => companySeriesQuery(part, ids, campaignIds)),
  };
}

export const searchCompanies = endpoint({
  ...listing,
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
  list: {
    item: CompanyListItem,
    pageFields: PAGE_FIELDS,
    readPage: async (call, next, format) =>
      readRows(call, await companyList(call), next as UnsentRows<{ id: string }> | undefined, format),
  },
  async handle(call) {
    const page = parsePage(call.body, reportParamsOf(call, COMPANY_METRIC_NAMES));
    const list = await companyList(call);
    const { report, filters, query } = list;
    const [{ rows, total }, context] = await Promise.all([
      run<{ id: string }>(call, query(page)),
      contextOf(call, report, filters),
    ]);
    return {
      items: await itemsWithSeries(list, rows),
      page: page.page,
      page_size: page.size,
      total_count: total,
      warnings: warningsOf({
        report,
        context,
        requested: filters,
        sparse: isSparse(report, rows.length),
        companyMetrics: rows.length > 0,
      }),
    };
  },
});

const MAX_CANDIDATES = 20;

/** The company a request means. Throws a `Problem`: 404 `company_not_found`, 409 `ambiguous_company` or `ambiguous_domain`. */
async function findCompany(
  call: HandlerContext<CompanyRequest, unknown, AdvertisingServices>,
): Promise<CompanyAttributes> {
  const { organizationId } = call;
  const id = call.body.company_id;
  const domain = normalizeDomain(call.body.domain ?? '');
  const { rows, total } = await run<CompanyAttributes & { rank?: number }>(
    call,
    id
      ? companyByIdQuery(organizationId, id, MAX_CANDIDATES)
      : companiesByDomainQuery(organizationId, domain, MAX_CANDIDATES),
  );
  const [company, other] = rows;
  if (!company) {
    const detail = id ? `There is no company ${id}.` : `No company has the domain ${domain}.`;
    throw new Problem('company_not_found', detail, { organization_id: organizationId });
  }
  if (!other || company.rank === OUR_ID) return company;
  const shared = id ? `the network_a id ${id}` : `the domain ${domain}`;
  throw new Problem(
    id ? 'ambiguous_company' : 'ambiguous_domain',
    `${total} companies have ${shared}; give the id of one as company_id.`,
    {
      organization_id: organizationId,
      candidates: rows.map((row) => ({
        id: row.id,
        network_a_company_id: row.network_a_company_id,
        name: row.name,
      })),
    },
  );
}

export const getCompany = endpoint({
  ...advertising,
  path: '/api/advertising/network_a/company',
  name: 'GetCompany',
  summary: 'Get the analytics of one company',
  description: describe(
    'Totals, series and campaigns of one company. Exactly one of `company_id` and `domain` is given; `campaign_ids` narrows everything.',
  ),
  request: CompanyRequest,
  slots: () => 2,
  response: CompanyResponse,
  get example(): CompanyRequest {
    return { ...exampleRange(), granularity: 'monthly', company_id: 'cmp_0001', campaign_page_size: 1 };
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
    const campaignIds = listFilter(body.campaign_ids);
    const page = { page: body.campaign_page ?? 1, size: body.campaign_page_size ?? 50 };
    const [periods, campaigns, context] = await Promise.all([
      run<SeriesRow & { active: boolean }>(call, companySeriesQuery(report, [company.id], campaignIds)),
      run<CompanyCampaignRow>(call, companyCampaignsQuery(report, company.id, campaignIds, page)),
      contextOf(call, report, { campaignIds }),
    ]);
    const series = new SeriesBuilder(report, [company.id]);
    await series.append(report.range, periods.rows.map(rowPrinter(report.metrics)), call.signal);
    return {
      company: companyIdentity(company),
      start_date: report.range.start,
      end_date: report.range.end,
      granularity: report.granularity,
      totals: metricWriter(report.metrics)({}, addCounts(periods.rows, requiredSums(report.metrics))),
      timeseries: new JsonText(series.seriesOf(company.id)),
      campaigns: campaigns.rows.map((row) => companyCampaign(report, row)),
      campaign_page: page.page,
      campaign_page_size: page.size,
      campaign_total_count: campaigns.total,
      provisional: isProvisional(report),
      warnings: warningsOf({
        report,
        context,
        requested: { campaignIds },
        sparse: isSparse(report, 1),
        companyMetrics: periods.rows.some(({ active }) => active),
      }),
    };
  },
});

export const advertisingEndpoints = [searchCampaigns, searchCreatives, searchCompanies, getCompany];
