import { Charts } from '../components/charts.js';
import { Pager } from '../components/pager.js';
import {
  chartMetrics,
  MetricPicker,
  ReportControls,
  reportOf,
  Warnings,
} from '../components/report-controls.js';
import { ScrollRegion } from '../components/scroll-region.js';
import { Failure, NoPermission } from '../components/states.js';
import { CurlButton } from '../components/toolbar.js';
import { figure, NONE } from '../format.js';
import { COMPANY_METRIC_NAMES, METRICS, type Point } from '../metrics.js';
import { address, href, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { useRequest } from '../use-request.js';

const PAGE = 25;
const COLUMNS = ['impressions', 'clicks', 'ctr', 'engagements', 'engagement_rate'] as const;
const ATTRIBUTES = [
  ['domain', 'Domain'],
  ['industry', 'Industry'],
  ['employee_range', 'Employees'],
  ['country', 'Country'],
  ['network_a_company_id', 'Network id'],
  ['id', 'Id'],
] as const;

/** The list this company was opened from, as far as both have the same parameters. */
function backHref(): string {
  const { params } = address.value;
  const kept = ['start', 'end', 'granularity', 'chart'].map((name) => [name, params.get(name)]);
  return href('/advertising', { tab: 'companies', ...Object.fromEntries(kept) });
}

export function Company() {
  const scope = missingScope('advertising:read');
  const report = reportOf();
  const page = Number(param('page') || 1);
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
        <a class="button" href={backHref()}>
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
              <div key={name}>
                <dt>{label}</dt>
                <dd>{String(company[name])}</dd>
              </div>
            ))}
          </dl>
          <dl class="totals">
            {COLUMNS.map((name) => (
              <div key={name}>
                <dt>{METRICS[name].label}</dt>
                <dd>{figure(data.totals[name] as number, METRICS[name].kind)}</dd>
              </div>
            ))}
          </dl>
          <Charts
            metrics={charts}
            series={[data.timeseries as unknown as readonly Point[]]}
            caption={report.granularity === 'daily' ? 'By day.' : 'By month.'}
          />
          <h2>Campaigns that reached it</h2>
          {data.campaigns.length === 0 ? (
            <p class="note">No campaign reached this company in the range.</p>
          ) : (
            <ScrollRegion label="Campaigns">
              <table class="list figures" aria-label="Campaigns" aria-busy={loading}>
                <thead>
                  <tr>
                    <th scope="col">Campaign</th>
                    {COLUMNS.map((name) => (
                      <th key={name} scope="col" class="figure">
                        {METRICS[name].label}
                      </th>
                    ))}
                    <th scope="col" class="second">
                      First seen
                    </th>
                    <th scope="col" class="second">
                      Last seen
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.campaigns.map((campaign) => (
                    <tr key={campaign.campaign_id}>
                      <td>{campaign.name ?? campaign.campaign_id}</td>
                      {COLUMNS.map((name) => (
                        <td key={name} class="figure">
                          {figure(campaign[name] as number, METRICS[name].kind)}
                        </td>
                      ))}
                      <td class="second">{campaign.first_seen ?? NONE}</td>
                      <td class="second">{campaign.last_seen ?? NONE}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollRegion>
          )}
          {data.campaign_total_count > PAGE && (
            <Pager page={page} pageSize={PAGE} total={data.campaign_total_count} one="campaign" />
          )}
        </>
      )}
      {!data && !error && <p class="note">Loading …</p>}
    </div>
  );
}
