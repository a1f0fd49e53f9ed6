/** The pages of a campaign, a creative and a company: the same metrics, and links to related items. */
import type { ComponentChildren } from 'preact';
import {
  AD_LISTS,
  type AdItem,
  type AdList,
  answered,
  campaignOf,
  domainHref,
  figureColumns,
  nameOf,
  oldFigures,
  useAds,
  words,
} from '../ad-lists.js';
import type { RequestOf } from '../api.js';
import type { Mark } from '../chart.js';
import { Charts } from '../components/charts.js';
import { Fact } from '../components/fact.js';
import { Pager } from '../components/pager.js';
import {
  COMPARISONS,
  chartMetrics,
  Granularity,
  MetricPicker,
  ReportControls,
  reportOf,
  reportParams,
  Warnings,
} from '../components/report-controls.js';
import { SelectFilter } from '../components/search-box.js';
import { Empty, Failed, NoPermission, Trouble } from '../components/states.js';
import { FigureTable } from '../components/table.js';
import { CurlButton } from '../components/toolbar.js';
import { Totals } from '../components/totals.js';
import { count, figure, NONE } from '../format.js';
import { withParts } from '../metrics.js';
import { href, pageParam, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';
import { seesCompanies } from '../view-scopes.js';

const CAMPAIGNS_PER_PAGE = 25;
const TOP = 10;
/** Maximum number of items shown that share a domain. */
const MAX_CANDIDATES = 20;

type Filter = Pick<
  RequestOf<AdList['path']> &
    RequestOf<'/api/advertising/network_a/creatives'> &
    RequestOf<'/api/advertising/network_a/companies'>,
  'campaign_ids' | 'creative_ids' | 'company_ids' | 'network_a_company_ids' | 'domains'
>;
/** Facts about an item besides its metrics. Unknown facts are left out. */
type Facts = readonly (readonly [label: string, value: (item: AdItem) => ComponentChildren])[];

const listHref = (tab: keyof typeof AD_LISTS, params: Record<string, string> = {}) =>
  tab === 'companies' && params.campaign === undefined && seesCompanies()
    ? href('/companies', { ...reportParams(), ...params })
    : href('/advertising', { tab: tab === 'campaigns' ? null : tab, ...reportParams(), ...params });

/**
 * The days on which a campaign starts and ends, and the last day on which a paused campaign was shown. Its records do not say when it was
 * paused.
 */
function marksOf({ start_date: start, end_date: end, status, timeseries }: AdItem): Mark[] {
  const shown = timeseries.findLast(({ impressions }) => Number(impressions) > 0);
  return [
    { date: start, label: 'Starts' },
    { date: end, label: 'Ends' },
    { date: status === 'PAUSED' && shown?.period, label: 'Last shown' },
  ].filter((mark): mark is Mark => typeof mark.date === 'string');
}

interface AdPageProps {
  tab: keyof typeof AD_LISTS;
  /** Filter that the address names; undefined if it names nothing. */
  filter: Filter | undefined;
  facts: Facts;
  children(item: AdItem): ComponentChildren;
}

function AdPage({ tab, filter, facts, children }: AdPageProps) {
  const scope = missingScope('advertising:read');
  const list: AdList = AD_LISTS[tab];
  const report = reportOf();
  const charts = chartMetrics(list.available, list.charts);
  const metrics = [...new Set([...list.metrics, ...charts])];
  const body = {
    organization_id: organizationId.value,
    ...report,
    ...filter,
    compare_to: (COMPARISONS.find(([name]) => name === param('compare')) ?? COMPARISONS[0])[0],
    metrics: withParts(metrics) as 'impressions'[],
    page_size: MAX_CANDIDATES,
  };
  const { answer, before, shown } = useAds(list, scope || !filter ? null : body, charts);
  if (scope) return <NoPermission scope={scope} what="advertising" />;
  const { data, items = [] } = shown ?? {};
  const [item, another] = items;
  return (
    <div class="view" aria-busy={answer.loading}>
      <div class="toolbar">
        <a class="button" href={listHref(tab)}>
          ← {list.label}
        </a>
        <h1>{item && !another ? nameOf(item) : words(list.one.toUpperCase())}</h1>
        <div class="actions">
          <CurlButton url={list.path} body={body} />
        </div>
      </div>
      <div class="toolbar report">
        <ReportControls report={report} withGranularity={false} />
        <SelectFilter name="compare" label="Compare with" options={COMPARISONS} />
      </div>
      {filter && <Trouble answer={answer} old={shown && oldFigures(shown)} />}
      {(!filter || data?.total_count === 0) && (
        <Empty>
          <p>There is no such {list.one}.</p>
          <a href={listHref(tab)}>Go to the {list.many}</a>
        </Empty>
      )}
      {another && (
        <Empty>
          <p>Several {list.many} have this domain.</p>
          {items.map((each) => (
            <p key={each.id}>{list.columns[0]?.cell(each)}</p>
          ))}
        </Empty>
      )}
      {shown && data && item && !another && (
        <>
          {item.impressions === 0 && <p class="note">It has no figures in this range.</p>}
          <Totals
            metrics={answered(metrics, shown)}
            answer={data}
            of={item}
            before={item.previous}
            currency={item.currency}
          />
          <Warnings warnings={data.warnings} />
          <Failed what="The earlier figures" answer={before} />
          <Charts
            metrics={answered(charts, shown)}
            periods={shown.periods}
            items={items}
            previous={shown.previousItems}
            weeks={shown.weeks}
            marks={tab === 'campaigns' ? marksOf(item) : []}
            caption={shown.granularity === 'monthly' ? 'By month.' : 'By day.'}
          >
            <Granularity report={report} />
            <MetricPicker available={list.available} chosen={charts} />
          </Charts>
          <dl class="facts-row">
            {[...facts, ['Id', ({ id }: AdItem) => id] as const].map(([label, value]) => {
              const shown = value(item);
              return (
                shown &&
                shown !== NONE && (
                  <Fact key={label} label={label}>
                    {shown}
                  </Fact>
                )
              );
            })}
          </dl>
          {children(item)}
        </>
      )}
      {filter && answer.state === 'none' && <p class="note">Loading …</p>}
    </div>
  );
}

/** The first items of a list that belong to a campaign, and a link to all of them. */
function TopItems({
  tab,
  heading,
  campaignId,
}: {
  tab: keyof typeof AD_LISTS;
  heading: string;
  campaignId: string;
}) {
  const list: AdList = AD_LISTS[tab];
  const { answer, shown } = useAds(
    list,
    {
      ...reportOf(),
      granularity: 'monthly',
      campaign_ids: [campaignId],
      metrics: withParts(list.metrics) as 'impressions'[],
      sort_by: list.order as 'name',
      page_size: TOP,
    },
    [],
  );
  const { data, items } = shown ?? {};
  return (
    <section class="related">
      <h2>{heading}</h2>
      <Trouble answer={answer} old={shown && oldFigures(shown)} />
      {data?.total_count === 0 && <p class="note">None in this range.</p>}
      {(data === undefined ? answer.state === 'none' : data.total_count > 0) && (
        <FigureTable
          label={list.label}
          columns={[
            ...list.columns.filter(({ label }) => !label.startsWith('Campaign')),
            ...figureColumns(list, list.metrics),
          ]}
          rows={items}
          keyOf={({ id }) => id}
          busy={answer.loading}
        />
      )}
      {data && data.total_count > TOP && (
        <p>
          <a href={listHref(tab, { campaign: campaignId })}>
            Show all {count(data.total_count)} {list.many}
          </a>
        </p>
      )}
    </section>
  );
}

const fact = (label: string, field: string): Facts[number] => [label, (item) => words(item[field])];
const money = (label: string, field: string): Facts[number] => [
  label,
  (item) => figure(item[field] as string | null, 'money', item.currency),
];
/** A link for web addresses; other schemes are plain text. */
const link = (label: string, field: string): Facts[number] => [
  label,
  ({ [field]: url }) =>
    typeof url === 'string' && /^https?:\/\//.test(url) ? (
      <a href={url} rel="noreferrer" target="_blank">
        {url}
      </a>
    ) : (
      words(url)
    ),
];

const CAMPAIGN_FACTS: Facts = [
  fact('Status', 'status'),
  fact('Objective', 'objective_type'),
  fact('Format', 'format'),
  ['Paid by', ({ cost_type: type }) => typeof type === 'string' && type],
  money('Daily budget', 'daily_budget'),
  money('Total budget', 'total_budget'),
  fact('Starts', 'start_date'),
  fact('Ends', 'end_date'),
  fact('Group', 'campaign_group_name'),
  fact('Network id', 'network_a_campaign_id'),
];

export function Campaign() {
  const id = param('campaign_id');
  return (
    <AdPage
      key={id}
      tab="campaigns"
      filter={id === '' ? undefined : { campaign_ids: [id] }}
      facts={CAMPAIGN_FACTS}
    >
      {({ id }) => (
        <>
          <TopItems tab="companies" heading="Companies it reached" campaignId={id} />
          <TopItems tab="creatives" heading="Its creatives" campaignId={id} />
        </>
      )}
    </AdPage>
  );
}

const CREATIVE_FACTS: Facts = [
  ['Campaign', campaignOf],
  fact('Status', 'status'),
  fact('Review', 'review_status'),
  fact('Format', 'format'),
  fact('Headline', 'headline'),
  link('Landing page', 'landing_page_url'),
  ['Visits', ({ landing_page_url: url }) => typeof url === 'string' && <VisitsOf page={url} />],
  fact('Network id', 'network_a_creative_id'),
];

/** Visits that began on a page, regardless of its parameters. */
function VisitsOf({ page }: { page: string }) {
  if (missingScope('visits:read') !== null) return null;
  return <a href={href('/visits', { query: page.replace(/[?#].*/s, '') })}>of its landing page</a>;
}

export function Creative() {
  const id = param('creative_id');
  return (
    <AdPage
      key={id}
      tab="creatives"
      filter={id === '' ? undefined : { creative_ids: [id] }}
      facts={CREATIVE_FACTS}
    >
      {({ campaign_id: campaignId }) =>
        typeof campaignId === 'string' && (
          <>
            <TopItems tab="companies" heading="Companies its campaign reached" campaignId={campaignId} />
            <TopItems tab="creatives" heading="Creatives of its campaign" campaignId={campaignId} />
          </>
        )
      }
    </AdPage>
  );
}

const COMPANY_FACTS: Facts = [
  [
    'Domain',
    ({ domain }) =>
      typeof domain === 'string' && (seesCompanies() ? <a href={domainHref(domain)}>{domain}</a> : domain),
  ],
  fact('Industry', 'industry'),
  fact('Employees', 'employee_range'),
  fact('Country', 'country'),
  link('Profile', 'network_a_url'),
  fact('Network id', 'network_a_company_id'),
];

/** Filters by id, by id of the network, or by domain. */
function companyFilter(): Filter | undefined {
  const [id, networkId, domain] = [param('company_id'), param('network_a_company_id'), param('domain')];
  if (domain !== '') return { domains: [domain] };
  if (networkId !== '') return { network_a_company_ids: [networkId] };
  return id === '' ? undefined : { company_ids: [id] };
}

export function Company() {
  const filter = companyFilter();
  return (
    <AdPage key={JSON.stringify(filter)} tab="companies" filter={filter} facts={COMPANY_FACTS}>
      {({ id }) => <CampaignsOf companyId={id} />}
    </AdPage>
  );
}

/** Campaigns that reached a company, each with its metrics for that company. */
export function CampaignsOf({ companyId }: { companyId: string }) {
  const list: AdList = AD_LISTS.companies;
  const page = pageParam();
  const answer = useRequest('/api/advertising/network_a/company', {
    ...reportOf(),
    granularity: 'monthly',
    company_id: companyId,
    metrics: withParts(list.metrics) as 'impressions'[],
    campaign_page: page,
    campaign_page_size: CAMPAIGNS_PER_PAGE,
  });
  const { data, of } = shownOf(answer) ?? {};
  const rows = data?.campaigns.map((campaign) => ({ ...campaign, id: campaign.campaign_id, timeseries: [] }));
  return (
    <section class="related">
      <h2>Campaigns that reached it</h2>
      <Trouble answer={answer} />
      {data?.campaign_total_count === 0 && <p class="note">None in this range.</p>}
      {data && data.campaign_total_count > 0 && (
        <FigureTable
          label="Campaigns"
          columns={[
            ...AD_LISTS.campaigns.columns,
            ...figureColumns(list, list.metrics),
            { label: 'First seen', class: 'second', cell: ({ first_seen }) => words(first_seen) },
            { label: 'Last seen', class: 'second', cell: ({ last_seen }) => words(last_seen) },
          ]}
          rows={rows}
          keyOf={({ id }) => id}
          busy={answer.loading}
        />
      )}
      {data && of && (data.campaign_total_count > CAMPAIGNS_PER_PAGE || (of.campaign_page ?? 1) > 1) && (
        <Pager
          page={of.campaign_page ?? 1}
          pageSize={CAMPAIGNS_PER_PAGE}
          total={data.campaign_total_count}
          one="campaign"
        />
      )}
    </section>
  );
}
