import type { Contact } from '../../contacts/schema.js';
import type { ResponseOf } from '../api.js';
import { Charts } from '../components/charts.js';
import { Fact } from '../components/fact.js';
import { Pager } from '../components/pager.js';
import {
  chartMetrics,
  MetricPicker,
  ReportControls,
  reportOf,
  reportParams,
  Warnings,
} from '../components/report-controls.js';
import { Failure, NoPermission } from '../components/states.js';
import { type Column, FigureTable, Table } from '../components/table.js';
import { CurlButton } from '../components/toolbar.js';
import { count, figure, fullName, NONE } from '../format.js';
import { COMPANY_METRIC_NAMES, METRICS, type Point } from '../metrics.js';
import { href, pageParam, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { useRequest } from '../use-request.js';
import { reachedHref } from './advertising.js';

const PAGE = 25;
const PEOPLE = 10;
const COLUMNS = ['impressions', 'clicks', 'ctr', 'engagements', 'engagement_rate'] as const;
const ATTRIBUTES = [
  ['domain', 'Domain'],
  ['industry', 'Industry'],
  ['employee_range', 'Employees'],
  ['country', 'Country'],
  ['network_a_company_id', 'Network id'],
  ['id', 'Id'],
] as const;

type Campaign = ResponseOf<'/api/advertising/network_a/company'>['campaigns'][number];

const CAMPAIGN_COLUMNS: readonly Column<Campaign>[] = [
  {
    label: 'Campaign',
    cell: ({ name, campaign_id }) => <a href={reachedHref(campaign_id)}>{name ?? campaign_id}</a>,
  },
  ...COLUMNS.map(
    (name): Column<Campaign> => ({
      label: METRICS[name].label,
      class: 'figure',
      cell: (campaign) => figure(campaign[name] as number, METRICS[name].kind),
    }),
  ),
  { label: 'First seen', class: 'second', cell: ({ first_seen }) => first_seen ?? NONE },
  { label: 'Last seen', class: 'second', cell: ({ last_seen }) => last_seen ?? NONE },
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

/** Whom the organization knows at a company. */
function People({ domain }: { domain: string }) {
  const isPermitted = missingScope('contacts:read') === null;
  const body = { organization_id: organizationId.value, company_domain: domain, limit: PEOPLE };
  const { data, error, loading, retry } = useRequest('/api/contacts/search', isPermitted ? body : null);
  if (!isPermitted) return null;
  return (
    <section class="people">
      <h2>People known there</h2>
      {error && <Failure error={error} retry={retry} />}
      {data?.total_count === 0 && <p class="note">No contact has the domain {domain}.</p>}
      {data && data.total_count > 0 && (
        <>
          <Table
            label="People"
            columns={PEOPLE_COLUMNS}
            pages={[data.contacts]}
            keyOf={({ contact_id }) => contact_id}
            busy={loading}
          />
          <p>
            <a href={href('/contacts', { company_domain: domain })}>
              {data.total_count === 1 ? 'Show' : `Show all ${count(data.total_count)}`} in Contacts
            </a>
          </p>
        </>
      )}
    </section>
  );
}

export function Company() {
  const scope = missingScope('advertising:read');
  const report = reportOf();
  const page = pageParam();
  const charts = chartMetrics(COMPANY_METRIC_NAMES, ['impressions', 'engagements']);
  const domain = param('domain');
  const body = {
    organization_id: organizationId.value,
    ...(domain === '' ? { company_id: param('company_id') } : { domain }),
    ...report,
    campaign_page: page,
    campaign_page_size: PAGE,
  };
  const { data, error, loading, retry } = useRequest(
    '/api/advertising/network_a/company',
    scope ? null : body,
  );
  if (scope) return <NoPermission scope={scope} what="advertising" />;
  const company = data?.company;
  return (
    <div class="view">
      <div class="toolbar">
        <a class="button" href={href('/advertising', { tab: 'companies', ...reportParams() })}>
          ← Companies
        </a>
        <h1>{company ? (company.name ?? company.domain ?? company.id) : 'Company'}</h1>
        <div class="actions">
          <ReportControls report={report} />
          <MetricPicker available={COMPANY_METRIC_NAMES} chosen={charts} />
          <CurlButton url="/api/advertising/network_a/company" body={body} />
        </div>
      </div>
      {error && <Failure error={error} retry={retry} />}
      {data && company && (
        <>
          <Warnings warnings={data.warnings} />
          <dl class="facts-row">
            {ATTRIBUTES.filter(([name]) => company[name]).map(([name, label]) => (
              <Fact key={name} label={label}>
                {String(company[name])}
              </Fact>
            ))}
          </dl>
          <dl class="totals">
            {COLUMNS.map((name) => (
              <Fact key={name} label={METRICS[name].label}>
                {figure(data.totals[name] as number, METRICS[name].kind)}
              </Fact>
            ))}
          </dl>
          <Charts
            metrics={charts}
            items={[{ timeseries: data.timeseries as unknown as readonly Point[] }]}
            caption={report.granularity === 'daily' ? 'By day.' : 'By month.'}
          />
          {company.domain && <People domain={company.domain} />}
          <h2>Campaigns that reached it</h2>
          {data.campaign_total_count === 0 ? (
            <p class="note">No campaign reached this company in the range.</p>
          ) : (
            <FigureTable
              label="Campaigns"
              columns={CAMPAIGN_COLUMNS}
              rows={data.campaigns}
              keyOf={({ campaign_id }) => campaign_id}
              busy={loading}
            />
          )}
          {(data.campaign_total_count > PAGE || page > 1) && (
            <Pager page={page} pageSize={PAGE} total={data.campaign_total_count} one="campaign" />
          )}
        </>
      )}
      {!data && !error && <p class="note">Loading …</p>}
    </div>
  );
}
