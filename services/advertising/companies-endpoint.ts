/** The list of companies. */
import type { HandlerContext } from '../http/endpoint.js';
import { normalizeDomain } from '../search/normalize.js';
import { companiesQuery, companyAttributesQuery, companyFiguresQuery } from './company-queries.js';
import { COMPANY_METRIC_NAMES } from './metrics.js';
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
import { CompaniesRequest } from './requests.js';
import { type CompanyAttributes, type CompanyTotals, companyItem } from './response-mapping.js';
import { CompaniesResponse, CompanyListItem } from './responses.js';
import { isSparse, type SeriesRow } from './series.js';
import type { FigureRows } from './series-query.js';
import { warningsOf } from './warnings.js';

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
    attributesQuery: (ids: string[]) => companyAttributesQuery(report.organizationId, ids),
    figuresQuery: (part: ReportParams, ids: string[], figureRows: FigureRows) =>
      companyFiguresQuery(part, ids, campaignIds, figureRows),
    toItem: (id: string, attributes: CompanyAttributes | undefined, totals: SeriesRow | undefined) =>
      companyItem(report, id, attributes, totals as CompanyTotals | undefined),
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
    columns: columnsOf(CompanyListItem, COMPANY_METRIC_NAMES),
    pageFields: PAGE_FIELDS,
    readPage: async (call, next, format) =>
      readNext(call, await companyList(call), next as UnsentIds | undefined, format),
  },
  async handle(call) {
    const page = parsePage(call.body, reportParamsOf(call, COMPANY_METRIC_NAMES));
    const list = await companyList(call);
    const { report, filters, query } = list;
    const [{ ids, total }, context] = await Promise.all([
      readIds(call, query(page)),
      contextOf(call, report, filters),
    ]);
    return {
      items: await itemsWithSeries(call, list, ids),
      page: page.page,
      page_size: page.size,
      total_count: total,
      warnings: warningsOf({
        report,
        context,
        requested: filters,
        sparse: isSparse(report, ids.length),
        companyMetrics: ids.length > 0,
      }),
    };
  },
});
