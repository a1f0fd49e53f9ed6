/** Companies by domain: who engaged with ads, who visited, and whom the organization knows. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { CompanyActivity, CompanySort } from '../../companies/schema.js';
import type { Contact } from '../../contacts/schema.js';
import type { Visit } from '../../visits/schema.js';
import { domainHref } from '../ad-lists.js';
import type { ResponseOf } from '../api.js';
import type { ChartData } from '../chart.js';
import { AddPeopleAt, MAX_DOMAINS } from '../components/add-to-audience.js';
import { Plot } from '../components/charts.js';
import { Fact } from '../components/fact.js';
import { FilterChips } from '../components/filters.js';
import { Pager } from '../components/pager.js';
import { ReportControls, reportOf, reportParams, Warnings } from '../components/report-controls.js';
import { SavedFiltersButton } from '../components/saved-filters-button.js';
import { SearchBox } from '../components/search-box.js';
import { orderOf, type SortedColumn, SortedTable } from '../components/sorted-table.js';
import { Empty, NoMatch, NoPermission, NothingYet, Trouble } from '../components/states.js';
import { type Column, Table } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { count, fullName, minute, NONE, plural, rangeText } from '../format.js';
import { focusSelection } from '../keys.js';
import { failureNotice } from '../notice.js';
import { href, pageParam, param } from '../router.js';
import { missingScopeOf, organizationId, useSession } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';
import { COMPANY_SCOPES } from '../view-scopes.js';
import { CampaignsOf } from './ad-page.js';
import { CAMPAIGN } from './advertising.js';
import { PageAddress } from './visits.js';

const SEARCH = '/api/companies/search';
const PAGE = 25;
/** Companies that one request reads to select all that match. */
const MOST = 200;
const NO_DOMAINS: ReadonlySet<string> = new Set();

const figure = (
  label: string,
  sort: CompanySort | undefined,
  of: (item: CompanyActivity) => number,
  second = '',
) => ({
  label,
  sort,
  class: `figure ${second}`.trim(),
  cell: (item: CompanyActivity) => count(of(item)),
});
const COLUMNS: readonly SortedColumn<CompanyActivity, CompanySort>[] = [
  {
    label: 'Company',
    sort: 'name',
    class: 'name',
    cell: ({ domain, name }) => <a href={domainHref(domain)}>{name ?? domain}</a>,
  },
  { label: 'Domain', class: 'second', cell: ({ domain }) => domain },
  figure('Engagements', 'engagements', ({ network_a }) => network_a.engagements),
  figure('Clicks', 'clicks', ({ network_a }) => network_a.clicks, 'second'),
  figure('Impressions', 'impressions', ({ network_a }) => network_a.impressions, 'second'),
  figure('Visits', 'visits', ({ visits }) => visits.count),
  {
    label: 'Last visit',
    sort: 'last_visit',
    class: 'second',
    cell: ({ visits: { last_at } }) => (last_at === null ? NONE : minute(last_at)),
  },
  figure('People known', undefined, ({ contacts }) => contacts.count),
];

export function Companies() {
  const scope = missingScopeOf(COMPANY_SCOPES);
  const { granularity: _, ...range } = reportOf();
  const order = orderOf(COLUMNS, 'engagements');
  const campaign = param('campaign');
  const filters = {
    organization_id: organizationId.value,
    ...range,
    ...(param('query') === '' ? {} : { search: param('query') }),
    ...(campaign === '' ? {} : { campaign_ids: [campaign] }),
    ...order,
  };
  const body = { ...filters, page: pageParam(), page_size: PAGE };
  const answer = useRequest(SEARCH, scope ? null : body);
  const { data, of } = shownOf(answer) ?? {};
  // The selection belongs to the filters, and stays on other pages of the list.
  const asked = JSON.stringify(filters);
  const [selection, setSelection] = useState({ asked, domains: NO_DOMAINS });
  const chosen = selection.asked === asked ? selection.domains : NO_DOMAINS;
  const setChosen = (domains: ReadonlySet<string>) => setSelection({ asked, domains });
  if (scope) return <NoPermission scope={scope} what="companies" />;
  const rows = data?.items ?? [];
  const toggle = (domains: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const domain of domains) isChosen ? next.add(domain) : next.delete(domain);
    setChosen(next);
  };
  const isEvery = rows.length > 0 && rows.every(({ domain }) => chosen.has(domain));
  const select: Column<CompanyActivity> = {
    label: 'Select',
    class: 'check',
    heading: (
      <th key="Select" class="check">
        <input
          type="checkbox"
          aria-label="Select the rows of this page"
          checked={isEvery}
          disabled={rows.length === 0}
          onClick={() =>
            toggle(
              rows.map(({ domain }) => domain),
              !isEvery,
            )
          }
        />
      </th>
    ),
    cell: ({ domain, name }) => (
      <input
        type="checkbox"
        aria-label={`Select ${name ?? domain}`}
        checked={chosen.has(domain)}
        onClick={() => toggle([domain], !chosen.has(domain))}
      />
    ),
  };
  return (
    <div class="view">
      <div class="toolbar">
        <h1 class="hidden">Companies</h1>
        <SearchBox label="Search companies" resets={['page']} />
        <ReportControls report={reportOf()} withGranularity={false} />
        <div class="actions">
          <SavedFiltersButton />
          <ExportButton source={{ name: 'companies', path: SEARCH, body: filters }} />
          <CurlButton url={SEARCH} body={body} />
        </div>
      </div>
      <Trouble
        answer={answer}
        old={of && `These figures are for ${rangeText(of.start_date, of.end_date)}.`}
      />
      <Warnings warnings={data?.warnings ?? []} />
      <FilterChips
        fields={[CAMPAIGN]}
        shown={of && { campaign: of.campaign_ids?.[0] }}
        total={data && plural(data.total_count, 'company', 'companies')}
      />
      {data?.total_count === 0 &&
        (param('query') !== '' || campaign !== '' ? (
          <NoMatch what="companies" clear={['query', 'campaign', 'page']} />
        ) : (
          <NothingYet stream="network-a-companies">
            No company with a domain saw ads or visited in this range.
          </NothingYet>
        ))}
      {(data === undefined ? answer.state === 'none' : data.total_count > 0) && (
        <SortedTable
          label="Companies"
          columns={[select, ...COLUMNS]}
          order={of ?? order}
          rows={data && rows}
          keyOf={({ domain }) => domain}
          busy={answer.loading}
        />
      )}
      {data && of && data.total_count > 0 && (
        <Pager page={of.page ?? 1} pageSize={PAGE} total={data.total_count} one="company" many="companies" />
      )}
      {data && <Unplaced {...data.without_domain} />}
      {data && (
        <ChosenCompanies
          chosen={[...chosen]}
          total={data.total_count}
          filters={filters}
          choose={(domains) => setChosen(new Set(domains))}
        />
      )}
    </div>
  );
}

function Unplaced({ companies, visits }: ResponseOf<typeof SEARCH>['without_domain']) {
  const parts = [
    companies > 0 && plural(companies, 'company', 'companies'),
    visits > 0 && plural(visits, 'visit'),
  ].filter(Boolean);
  return parts.length === 0 ? null : (
    <p class="note">Without a domain, and so in no row: {parts.join(' and ')}.</p>
  );
}

interface ChosenCompaniesProps {
  chosen: readonly string[];
  total: number;
  filters: Parameters<typeof readDomains>[1];
  choose(domains: readonly string[]): void;
}

/** The domains of the first companies that match, in order. */
async function readDomains(
  session: ReturnType<typeof useSession>,
  filters: { start_date: string; end_date: string; sort_by: CompanySort },
  total: number,
): Promise<string[]> {
  const domains: string[] = [];
  for (let page = 1; domains.length < Math.min(total, MAX_DOMAINS); page++) {
    const { items } = await session.call(SEARCH, { ...filters, page, page_size: MOST });
    if (items.length === 0) break;
    domains.push(...items.map(({ domain }) => domain));
  }
  return domains.slice(0, MAX_DOMAINS);
}

function ChosenCompanies({ chosen, total, filters, choose }: ChosenCompaniesProps) {
  const session = useSession();
  const [isReading, setReading] = useState(false);
  // A disabled button loses the focus, and the button that selected all is gone.
  useEffect(() => {
    if (!isReading && chosen.length > 0 && document.activeElement === document.body) focusSelection();
  }, [isReading]);
  if (chosen.length === 0) return null;
  const most = Math.min(total, MAX_DOMAINS);
  async function chooseAll() {
    setReading(true);
    try {
      choose(await readDomains(session, filters, total));
    } catch (error) {
      session.notice.value = failureNotice('the companies were selected', error);
    }
    setReading(false);
  }
  return (
    <section class="selection" aria-label="Selection" aria-keyshortcuts="a">
      <strong role="status">{plural(chosen.length, 'company', 'companies')} selected</strong>
      {chosen.length < most && (
        <button type="button" disabled={isReading} onClick={() => void chooseAll()}>
          {total > MAX_DOMAINS ? `Select the first ${count(most)}` : `Select all ${count(most)} that match`}
        </button>
      )}
      <div class="actions">
        <AddPeopleAt
          domains={chosen}
          run={async (change) => {
            if (await session.perform('the audience was changed', change)) choose([]);
          }}
        />
        <button type="button" onClick={() => choose([])}>
          Clear
        </button>
      </div>
    </section>
  );
}

const CHARTS = [
  ['Engagements', 'engagements'],
  ['Impressions', 'impressions'],
  ['Visits', 'visits'],
] as const;

type Periods = ResponseOf<'/api/companies/get'>['timeseries'];

const chartOf = (timeseries: Periods, label: string, name: (typeof CHARTS)[number][1]): ChartData => ({
  label,
  kind: 'count',
  currency: null,
  values: timeseries.map((point) => point[name]),
  previous: undefined,
  provisional: timeseries.map((point) => name !== 'visits' && point.provisional),
  periods: timeseries.map(({ period }) => period),
});

const VISIT_COLUMNS: readonly Column<Visit>[] = [
  { label: 'Time (UTC)', cell: ({ createdAt }) => minute(createdAt) },
  { label: 'Landing page', cell: ({ startUrl }) => <PageAddress url={startUrl} /> },
  {
    label: 'Place',
    class: 'second',
    cell: ({ city, country }) => [city, country].filter(Boolean).join(', ') || NONE,
  },
];

const PEOPLE_COLUMNS: readonly Column<Contact>[] = [
  {
    label: 'Name',
    cell: (contact) => <a href={href('/contacts', { contact: contact.contact_id })}>{fullName(contact)}</a>,
  },
  { label: 'Job title', cell: ({ job_title }) => job_title },
  {
    label: 'Email',
    class: 'second',
    cell: ({ work_emails: [email] }) => email && <a href={`mailto:${email}`}>{email}</a>,
  },
];

/** A company: its ads and visits on one time line, and the people known there. */
export function CompanyPage() {
  const scope = missingScopeOf(COMPANY_SCOPES);
  const domain = param('domain');
  const report = reportOf();
  const body = { organization_id: organizationId.value, ...report, domain };
  const answer = useRequest('/api/companies/get', scope || domain === '' ? null : body);
  if (scope) return <NoPermission scope={scope} what="companies" />;
  const { data, of } = shownOf(answer) ?? {};
  return (
    <div class="view" aria-busy={answer.loading}>
      <div class="toolbar">
        <a class="button" href={href('/companies', reportParams())}>
          ← Companies
        </a>
        <h1>{data ? (data.company.name ?? data.company.domain) : domain || 'Company'}</h1>
        <div class="actions">
          <ReportControls report={report} />
          <CurlButton url="/api/companies/get" body={body} />
        </div>
      </div>
      {domain !== '' && (
        <Trouble
          answer={answer}
          old={of && `These figures are for ${rangeText(of.start_date, of.end_date)}.`}
        />
      )}
      {domain === '' && (
        <Empty>
          <p>There is no such company.</p>
          <a href={href('/companies')}>Go to the companies</a>
        </Empty>
      )}
      {data && <CompanyDetails {...data} />}
      {domain !== '' && answer.state === 'none' && <p class="note">Loading …</p>}
    </div>
  );
}

function CompanyDetails({
  company,
  timeseries,
  visits,
  contacts,
  warnings,
}: ResponseOf<'/api/companies/get'>) {
  const { domain, network_a: ads, company_ids: ids } = company;
  const charts = useMemo(() => CHARTS.map(([label, name]) => chartOf(timeseries, label, name)), [timeseries]);
  const [only, ...others] = ids;
  const query = `"${domain}"`;
  return (
    <>
      <Warnings warnings={warnings} />
      <dl class="totals">
        <Fact label="Domain">{domain}</Fact>
        <Fact label="Engagements">{count(ads.engagements)}</Fact>
        <Fact label="Clicks">{count(ads.clicks)}</Fact>
        <Fact label="Impressions">{count(ads.impressions)}</Fact>
        <Fact label="Campaigns">{count(ads.campaigns_reached)}</Fact>
        <Fact label="Visits">{count(company.visits.count)}</Fact>
        <Fact label="People known">{count(company.contacts.count)}</Fact>
      </dl>
      <figure class="charts">
        <figcaption>Ads and visits over the same days.</figcaption>
        <div class="charts-grid">
          {charts.map((data) => (
            <Plot key={data.label} data={data} />
          ))}
        </div>
      </figure>
      <section class="related">
        <h2>Visits</h2>
        {visits.length === 0 && <p class="note">None in this range.</p>}
        {visits.length > 0 && (
          <>
            <Table
              label="Visits"
              columns={VISIT_COLUMNS}
              pages={[visits]}
              keyOf={({ id, createdAt }) => `${id} ${createdAt}`}
            />
            <p>
              <a href={href('/visits', { company_domain: domain })}>Show in Visits</a>
            </p>
          </>
        )}
      </section>
      <section class="related">
        <h2>People known there</h2>
        {contacts.length === 0 && <p class="note">No contact has the domain {domain}, or an email of it.</p>}
        {contacts.length > 0 && (
          <>
            <Table
              label="People"
              columns={PEOPLE_COLUMNS}
              pages={[contacts]}
              keyOf={({ contact_id }) => contact_id}
            />
            <div class="toolbar">
              <a href={href('/contacts', { query })}>
                {company.contacts.count === 1 ? 'Show' : `Show all ${count(company.contacts.count)}`} in
                Contacts
              </a>
              <AddPeopleAt domains={[domain]} />
            </div>
          </>
        )}
      </section>
      {others.length > 0 && (
        <section class="related">
          <h2>Its company records</h2>
          {ids.map((id) => (
            <p key={id}>
              <a href={href('/advertising/company', { ...reportParams(), company_id: id })}>{id}</a>
            </p>
          ))}
        </section>
      )}
      {only !== undefined && others.length === 0 && <CampaignsOf companyId={only} />}
    </>
  );
}
