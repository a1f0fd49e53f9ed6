/** The analytics of one company. */
import type { HandlerContext } from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import { normalizeDomain } from '../search/normalize.js';
import { JsonText } from '../shared/json.js';
import {
  companiesOfQuery,
  companyAttributesQuery,
  companyCampaignsQuery,
  companyMetricsQuery,
  companyNameQuery,
} from './company-queries.js';
import {
  type CompanyAttributes,
  type CompanyCampaignRow,
  companyCampaign,
  isProvisional,
  metricValues,
  unknownCompany,
} from './items.js';
import type { MetricSums } from './metric-values.js';
import { COMPANY_METRIC_NAMES } from './metrics.js';
import {
  type AdvertisingContext,
  type AdvertisingServices,
  advertising,
  describe,
  endpoint,
  exampleRange,
} from './operation.js';
import { contextOf, reportParamsOf, run } from './page.js';
import { DEFAULT_PAGE_SIZE, filtersOf } from './report-params.js';
import { CompanyRequest } from './requests.js';
import { CompanyResponse } from './responses.js';
import { isSparse, SeriesBuilder, type SeriesRow } from './series.js';
import { warningsOf } from './warnings.js';

const MAX_CANDIDATES = 20;

/** A company by the id that Reachline assigned, even if only a delivery names the company. */
async function ownCompany(call: AdvertisingContext, id: string): Promise<CompanyAttributes | undefined> {
  const { organizationId } = call;
  const [company] = (await run<CompanyAttributes>(call, companyAttributesQuery(organizationId, [id]))).rows;
  if (company) return company;
  const { rows } = await run(call, companyNameQuery(organizationId, id));
  return rows.length > 0 ? unknownCompany(id) : undefined;
}

/**
 * The company that a request means. If an id is both Reachline's and network_a's, Reachline's counts. Throws a `Problem`: 404
 * `company_not_found`, 409 `ambiguous_company` or `ambiguous_domain`.
 */
async function findCompany(
  call: HandlerContext<CompanyRequest, unknown, AdvertisingServices>,
): Promise<CompanyAttributes> {
  const { organizationId } = call;
  const id = call.body.company_id;
  const own = id && (await ownCompany(call, id));
  if (own) return own;
  const domain = normalizeDomain(call.body.domain ?? '');
  const { rows, total } = await run<CompanyAttributes>(
    call,
    id
      ? companiesOfQuery(organizationId, 'network_a_company_id', id, MAX_CANDIDATES)
      : companiesOfQuery(organizationId, 'domain', domain, MAX_CANDIDATES),
  );
  const [company, other] = rows;
  if (!company) {
    const detail = id ? `There is no company ${id}.` : `No company has the domain ${domain}.`;
    throw new Problem('company_not_found', detail, { organization_id: organizationId });
  }
  if (!other) return company;
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
    const { campaign_ids } = filtersOf({ campaign_ids: body.campaign_ids });
    const page = { page: body.campaign_page ?? 1, size: body.campaign_page_size ?? DEFAULT_PAGE_SIZE };
    const [rows, campaigns, context] = await Promise.all([
      run<SeriesRow>(
        call,
        companyMetricsQuery(report, [company.id], campaign_ids, { points: true, totals: true }),
      ),
      run<CompanyCampaignRow>(call, companyCampaignsQuery(report, company.id, campaign_ids, page)),
      contextOf(call, report, { campaign_ids }),
    ]);
    const series = new SeriesBuilder(report, [company.id]);
    await series.append(report.range, rows.rows, call.signal);
    const totals: MetricSums & { first_seen?: string | null } = rows.rows.find(({ day }) => day === '') ?? {};
    return {
      company,
      start_date: report.range.start,
      end_date: report.range.end,
      granularity: report.granularity,
      totals: metricValues(report, totals),
      timeseries: new JsonText(series.seriesOf(company.id)),
      campaigns: campaigns.rows.map((row) => companyCampaign(report, row)),
      campaign_page: page.page,
      campaign_page_size: page.size,
      campaign_total_count: campaigns.total,
      // Companies have no money, so nothing is converted.
      ...(report.currency && { converted: true as const, rates: { from: null, to: null } }),
      provisional: isProvisional(report),
      warnings: warningsOf({
        report,
        context,
        filters: { campaign_ids },
        sparse: isSparse(report, 1),
        companyMetrics: Boolean(totals.first_seen),
      }),
    };
  },
});
