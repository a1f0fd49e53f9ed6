/** Companies by domain: what ads reached, who visited, and whom the organization knows. */
import { addDays } from '../advertising/calendar.js';
import { companySource } from '../advertising/company-queries.js';
import { isProvisional } from '../advertising/items.js';
import { caseFold, dropAccents } from '../advertising/normalization.js';
import { type AdvertisingServices, exampleRange } from '../advertising/operation.js';
import { contextOf, reportParamsOf, run, withSealedMonths } from '../advertising/page.js';
import { type Filters, filtersOf, parsePage, type ReportParams } from '../advertising/report-params.js';
import { warningsOf } from '../advertising/warnings.js';
import type { ContactStore } from '../contacts/contact-store.js';
import { knownAt } from '../contacts/search.js';
import { endpointsWith, type HandlerContext, type MatchPage } from '../http/endpoint.js';
import { noWords, noWordsError, Problem } from '../http/problems.js';
import { normalizeDomain } from '../search/normalize.js';
import { JsonText } from '../shared/json.js';
import { hasLetterOrDigit } from '../shared/text.js';
import { DAY_MS, formatTimestamp } from '../shared/time.js';
import { MAX_FACET_DAYS, type VisitStore } from '../visits/visit-store.js';
import { readInParts, sortByKey } from './order.js';
import {
  type CompanyRow,
  companyRowsQuery,
  type DomainRow,
  domainSeriesQuery,
  domainsQuery,
  type NameRow,
  namesQuery,
  type PeriodRow,
  SUMS,
  type Sums,
} from './queries.js';
import {
  CompanyActivity,
  type CompanySort,
  CSV_COLUMNS,
  GetCompanyRequest,
  GetCompanyResponse,
  SearchCompaniesRequest,
  SearchCompaniesResponse,
} from './schema.js';
import { activityPoints } from './series.js';

export interface CompanyServices extends AdvertisingServices {
  records: VisitStore & Pick<ContactStore, 'searchContacts' | 'countContacts'>;
}

const endpoint = endpointsWith<CompanyServices>();
type Call<Body> = HandlerContext<Body, unknown, CompanyServices>;

/** Maximum domains of a search, because each is read before a page is cut. */
const MAX_DOMAINS = 100_000;
const NEWEST = 20;
/** Bytes of domains in a statement. The embedded engine takes parameters up to 256 KiB. */
const STATEMENT_BYTES = 128 * 1024;

const operation = {
  tag: 'Companies',
  scope: ['advertising:read', 'visits:read', 'contacts:read'],
} as const;

/** A domain of the range. */
interface Entry extends Pick<DomainRow, 'domain' | 'sort_value'> {
  visits: number;
  last_visit: number | null;
}

interface Universe {
  entries: Entry[];
  withoutDomain: { companies: number; visits: number };
}

const NONE: Sums = { impressions: 0, clicks: 0, engagements: 0 };
const millisecondsOf = ({ range }: ReportParams) => ({
  createdFrom: Date.parse(range.start),
  createdBefore: Date.parse(range.end) + DAY_MS,
});

const tooMany = (what: 'match' | 'visited') => {
  const detail =
    what === 'match'
      ? `More than ${MAX_DOMAINS} domains match; narrow the range, \`search\` or \`domains\`.`
      : `More than ${MAX_DOMAINS} domains visited; narrow the range, or name \`domains\`.`;
  return new Problem('too_many_companies', detail, {
    errors: [{ pointer: '/start_date', code: 'too_many_companies', detail }],
  });
};

/** Reads the names of domains without activity of ads, and leaves out domains that the search does not match. */
async function readNames(
  call: Call<unknown>,
  report: ReportParams,
  domains: readonly string[],
  search: string | undefined,
): Promise<NameRow[]> {
  const names: NameRow[] = [];
  for (let from = 0; from < domains.length; ) {
    const part: string[] = [];
    for (let bytes = 0; from < domains.length && bytes < STATEMENT_BYTES; from++) {
      const domain = domains[from] as string;
      part.push(domain);
      bytes += Buffer.byteLength(domain);
    }
    names.push(...(await run<NameRow>(call, namesQuery(report, part, search))).rows);
  }
  return names;
}

/** All domains that match, in order. Throws a `Problem` 422 `too_many_companies`. */
async function readUniverse(
  call: Call<SearchCompaniesRequest>,
  report: ReportParams,
  filters: Filters,
): Promise<Universe> {
  const { organizationId, services, signal, body } = call;
  const { domains, search } = filters;
  const sort: CompanySort = body.sort_by ?? 'engagements';
  // Two rows beyond the maximum: the row of companies without a domain, and a row that shows that there are too many domains.
  const query = domainsQuery(report, filters, sort, MAX_DOMAINS + 2);
  const [{ rows }, visited] = await Promise.all([
    run<DomainRow>(call, query),
    services.records.countVisitsByCompany(
      { organizationId, domains, ...millisecondsOf(report), limit: MAX_DOMAINS + 1 },
      signal,
    ),
  ]);
  const known = new Map(rows.map((row) => [row.domain, row]));
  const { companies = 0 } = known.get('') ?? {};
  known.delete('');
  if (known.size > MAX_DOMAINS) throw tooMany('match');
  if (visited.companies.length > MAX_DOMAINS) throw tooMany('visited');
  if (sort === 'name' || search !== undefined) {
    const inactive = [...visited.companies.map(({ domain }) => domain), ...(domains ?? [])];
    const unnamed = [...new Set(inactive)].filter((domain) => !known.has(domain));
    for (const row of await readNames(call, report, unnamed, search))
      known.set(row.domain, { ...row, sort_value: sort === 'name' ? row.sort_value : null, companies: 0 });
  }
  const entries = new Map<string, Entry>();
  const add = (domain: string, visits = 0, last_visit: number | null = null) => {
    const value = known.get(domain)?.sort_value ?? (SUMS.some((name) => name === sort) ? 0 : null);
    entries.set(domain, { domain, sort_value: value, visits, last_visit });
  };
  for (const { domain, companies } of known.values()) if (companies > 0) add(domain);
  const isFound = (domain: string) =>
    search === undefined || known.has(domain) || dropAccents(caseFold(domain)).includes(search);
  for (const domain of domains ?? []) if (isFound(domain)) add(domain);
  for (const { domain, count, lastMs } of visited.companies) if (isFound(domain)) add(domain, count, lastMs);
  if (entries.size > MAX_DOMAINS) throw tooMany('match');
  const isByVisits = sort === 'visits' || sort === 'last_visit';
  return {
    entries: sortByKey(
      [...entries.values()],
      (entry) => (isByVisits ? entry[sort] : entry.sort_value),
      body.sort_direction !== 'asc',
    ),
    withoutDomain: { companies, visits: visited.withoutDomain },
  };
}

/** The items of some domains, in their order. */
async function readItems(
  call: Call<unknown>,
  report: ReportParams,
  campaignIds: string[] | undefined,
  entries: readonly Pick<Entry, 'domain' | 'visits' | 'last_visit'>[],
): Promise<CompanyActivity[]> {
  if (entries.length === 0) return [];
  const domains = entries.map(({ domain }) => domain);
  const { organizationId, services, signal } = call;
  const [{ rows }, contacts] = await Promise.all([
    run<CompanyRow>(call, companyRowsQuery(report, campaignIds, domains)),
    services.records.countContacts(
      organizationId,
      domains.map((domain) => knownAt([domain])),
      { signal },
    ),
  ]);
  const rowOf = new Map(rows.map((row) => [row.domain, row]));
  return entries.map(({ domain, visits, last_visit }, index) => {
    const row = rowOf.get(domain);
    const { impressions, clicks, engagements } = row ?? NONE;
    return {
      domain,
      name: row?.name ?? null,
      company_ids: row?.company_ids ?? [],
      network_a: {
        ...{ impressions, clicks, engagements },
        campaigns_reached: row?.campaigns_reached ?? 0,
        first_seen: row?.first_seen ?? null,
        last_seen: row?.last_seen ?? null,
      },
      visits: { count: visits, last_at: last_visit === null ? null : formatTimestamp(last_visit) },
      contacts: { count: contacts[index] as number },
    };
  });
}

const csvRow = ({ network_a, visits, contacts, ...item }: CompanyActivity) => ({
  ...item,
  ...network_a,
  visit_count: visits.count,
  last_visit: visits.last_at,
  contact_count: contacts.count,
});

async function parametersOf(call: Call<SearchCompaniesRequest>) {
  const place = call.body.domains?.findIndex((domain) => !hasLetterOrDigit(normalizeDomain(domain))) ?? -1;
  if (place !== -1) throw noWords(`domains[${place}]`);
  const filters = filtersOf(call.body);
  const { campaign_ids } = filters;
  const report = await withSealedMonths(call, reportParamsOf(call, SUMS), companySource({ campaign_ids }));
  return { report, filters };
}

export const searchCompanies = endpoint({
  ...operation,
  path: '/api/companies/search',
  name: 'SearchCompaniesByDomain',
  summary: 'Search companies by domain',
  description:
    'Every domain with activity of ads or a visit in the range: the sums of network_a over its company records, its visits, and the number of contacts known there. Sums are of the newest report of each day. `without_domain` counts what could not be placed. `campaign_ids` narrows the figures of network_a alone.',
  slots: () => 4,
  check: ({ domains }) =>
    (domains ?? []).flatMap((domain, index) =>
      hasLetterOrDigit(normalizeDomain(domain)) ? [] : [noWordsError(`domains[${index}]`)],
    ),
  request: SearchCompaniesRequest,
  response: SearchCompaniesResponse,
  get example(): SearchCompaniesRequest {
    return { ...exampleRange(), page_size: 1 };
  },
  problems: ['too_many_companies'],
  list: {
    item: CompanyActivity,
    pageFields: ['page', 'page_size'],
    columns: () => CSV_COLUMNS,
    async readPage(call, next, format): Promise<MatchPage> {
      const { report, filters } = await parametersOf(call);
      return readInParts(
        next,
        async () => (await readUniverse(call, report, filters)).entries,
        async (some) => {
          const items = await readItems(call, report, filters.campaign_ids, some);
          return format === 'csv' ? items.map(csvRow) : items;
        },
      );
    },
  },
  async handle(call) {
    const { report, filters } = await parametersOf(call);
    const { campaign_ids } = filters;
    const { page, size } = parsePage(call.body);
    const [{ entries, withoutDomain }, context] = await Promise.all([
      readUniverse(call, report, filters),
      contextOf(call, report, { campaign_ids }),
    ]);
    const shown = entries.slice((page - 1) * size, page * size);
    const items = await readItems(call, report, campaign_ids, shown);
    return {
      items,
      page,
      page_size: size,
      total_count: entries.length,
      without_domain: withoutDomain,
      provisional: isProvisional(report),
      warnings: warningsOf({
        report,
        context,
        filters: { campaign_ids },
        sparse: false,
        companyMetrics: items.some(({ network_a }) => network_a.first_seen !== null),
      }),
    };
  },
});

/** Visits of a company by UTC day. A facet has at most `MAX_FACET_DAYS` days, so that a long range needs several. */
async function readVisits(call: Call<unknown>, { range }: ReportParams, companyDomain: string) {
  const { organizationId, services, signal } = call;
  const search = { organizationId, companyDomain, limit: NEWEST };
  const days = new Map<string, number>();
  const readDays = async (start: string, end: string) => {
    const page = await services.records.searchVisits(
      { ...search, createdFrom: Date.parse(start), createdBefore: Date.parse(end) + DAY_MS, facets: ['day'] },
      signal,
    );
    for (const { value, count } of page.facets?.day ?? []) days.set(value, count);
    return page;
  };
  const newest = await readDays(range.start, range.end);
  let end = days.size < MAX_FACET_DAYS ? undefined : [...days.keys()].sort()[0];
  while (end !== undefined && end > range.start) {
    const before = days.size;
    await readDays(range.start, addDays(end, -1));
    end = days.size - before < MAX_FACET_DAYS ? undefined : [...days.keys()].sort()[0];
  }
  return { days, newest };
}

const getCompany = endpoint({
  ...operation,
  path: '/api/companies/get',
  name: 'GetCompanyByDomain',
  summary: 'Get a company by domain',
  description:
    'What ads reached, who visited and who is known at one domain: the item of companies/search, its series, the newest visits of the range, and contacts.',
  slots: () => 4,
  request: GetCompanyRequest,
  response: GetCompanyResponse,
  get example(): GetCompanyRequest {
    return { ...exampleRange(), granularity: 'monthly', domain: 'redstone-media.example' };
  },
  problems: ['company_not_found'],
  async handle(call) {
    const { organizationId, services, signal, body } = call;
    const domain = normalizeDomain(body.domain);
    const parsed = reportParamsOf(call, SUMS);
    if (!hasLetterOrDigit(domain)) throw noWords('domain');
    const report = await withSealedMonths(call, parsed, 'company');
    const [{ newest, days }, contacts, series, context] = await Promise.all([
      readVisits(call, report, domain),
      services.records.searchContacts(
        { organizationId, filters: [knownAt([domain])], limit: NEWEST },
        { signal },
      ),
      run<PeriodRow>(call, domainSeriesQuery(report, domain)),
      contextOf(call, report, {}),
    ]);
    const visits = newest.items.map((item) => new JsonText(item));
    const last_visit =
      newest.items[0] === undefined ? null : Date.parse(JSON.parse(newest.items[0]).createdAt);
    const [company] = (await readItems(call, report, undefined, [
      { domain, visits: newest.total, last_visit },
    ])) as [CompanyActivity];
    if (company.company_ids.length === 0 && newest.total === 0 && contacts.total === 0) {
      const ever = await services.records.searchVisits(
        { organizationId, companyDomain: domain, limit: 1 },
        signal,
      );
      if (ever.total === 0) {
        const detail = `No company, visit or contact has the domain ${domain}.`;
        throw new Problem('company_not_found', detail, { organization_id: organizationId });
      }
    }
    return {
      company,
      start_date: report.range.start,
      end_date: report.range.end,
      granularity: report.granularity,
      timeseries: activityPoints(report, series.rows, days),
      visits,
      contacts: contacts.items.map((item) => new JsonText(item)),
      provisional: isProvisional(report),
      warnings: warningsOf({
        report,
        context,
        filters: {},
        sparse: false,
        companyMetrics: company.network_a.first_seen !== null,
      }),
    };
  },
});

export const companyEndpoints = [searchCompanies, getCompany];
