/** The list of companies. */
import type { HandlerContext } from '../http/endpoint.js';
import { normalizeDomain } from '../search/normalize.js';
import {
  companiesQuery,
  companyAttributesQuery,
  companyFiguresQuery,
  companyReachQuery,
  companySeriesQuery,
} from './company-queries.js';
import { COMPANY_METRIC_NAMES } from './metrics.js';
import {
  type AdvertisingContext,
  type AdvertisingServices,
  describe,
  endpoint,
  exampleRange,
  listing,
  PAGE_FIELDS,
} from './operation.js';
import { itemsWithSeries, readRows, searchFilter, sortOf, type UnsentRows } from './report-list.js';
import { listFilter, type Page, parsePage, type ReportParams } from './report-params.js';
import { contextOf, pageSeries, reportParamsOf, run, withSealedMonths } from './report-queries.js';
import { CompaniesRequest } from './requests.js';
import { type CompanyAttributes, type CompanyRow, companyItem, type Reach } from './response-mapping.js';
import { CompaniesResponse, CompanyListItem, companyFields } from './responses.js';
import { isSparse } from './series.js';
import { warningsOf } from './warnings.js';

/** The number of campaigns that each company of a page saw. */
async function pageReach(
  call: AdvertisingContext,
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
  call: AdvertisingContext,
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
async function pageAttributes(
  call: AdvertisingContext,
  ids: string[],
): Promise<(id: string) => CompanyAttributes> {
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
