import type { Metric } from '../../advertising/metrics.js';
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
import { SavedFiltersButton } from '../components/saved-filters-button.js';
import { SearchBox, SelectFilter } from '../components/search-box.js';
import { Segments } from '../components/segments.js';
import { Failure, NoMatch, NoPermission, NothingYet } from '../components/states.js';
import { type Column, FigureTable } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { change, figure, NONE, plural } from '../format.js';
import { COMPANY_METRIC_NAMES, METRIC_NAMES, METRICS, type Point, withParts } from '../metrics.js';
import { href, hrefWith, pageParam, param, setParams } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { useRequest } from '../use-request.js';

const PAGE = 25;

/** What every item of the three lists has. */
interface Item {
  id: string;
  name: string | null;
  currency?: string | null;
  timeseries: readonly Point[];
  previous?: Record<string, unknown>;
  [field: string]: unknown;
}

type Comparison = 'previous_period' | 'previous_year';
const COMPARISONS = [
  ['', 'nothing'],
  ['previous_period', 'the days before'],
  ['previous_year', 'the year before'],
] as const;

interface SortedColumn extends Column<Item> {
  /** Name of the order, where the list can be ordered by it. */
  sort?: string;
}

interface Tab {
  label: string;
  one: string;
  many: string;
  path:
    | '/api/advertising/network_a/campaigns'
    | '/api/advertising/network_a/creatives'
    | '/api/advertising/network_a/companies';
  /** Filter by the ids of its items. */
  ids: 'campaign_ids' | 'creative_ids' | 'company_ids';
  available: readonly Metric[];
  /** Metrics the list cannot be ordered by. */
  unsortable: readonly Metric[];
  columns: readonly SortedColumn[];
  metrics: readonly Metric[];
  charts: readonly Metric[];
  order: string;
  statuses: readonly string[];
}

const text = (label: string, field: string, sort?: string): SortedColumn => ({
  label,
  sort,
  class: 'second',
  cell: (item) => words(item[field]),
});

/** `LEAD_GENERATION` as a person writes it. */
function words(value: unknown): string {
  if (typeof value !== 'string') return value === null || value === undefined ? NONE : String(value);
  if (!/^[A-Z_]+$/.test(value)) return value;
  return value[0] + value.slice(1).toLowerCase().replaceAll('_', ' ');
}

const COMPANY_SORTS: readonly Metric[] = ['impressions', 'clicks', 'engagements', 'engagement_rate'];

const TABS: Record<string, Tab> = {
  campaigns: {
    label: 'Campaigns',
    one: 'campaign',
    many: 'campaigns',
    path: '/api/advertising/network_a/campaigns',
    ids: 'campaign_ids',
    available: METRIC_NAMES,
    unsortable: [],
    columns: [
      {
        label: 'Campaign',
        sort: 'name',
        cell: ({ id, name }) => <a href={reachedHref(id)}>{name ?? id}</a>,
      },
      text('Status', 'status', 'status'),
      text('Objective', 'objective_type', 'objective_type'),
    ],
    metrics: ['ad_spend', 'impressions', 'clicks', 'ctr', 'engagements', 'engagement_rate', 'leads'],
    charts: ['ad_spend', 'engagement_rate'],
    order: 'ad_spend',
    statuses: ['ACTIVE', 'PAUSED', 'COMPLETED', 'ARCHIVED', 'DRAFT', 'CANCELED'],
  },
  creatives: {
    label: 'Creatives',
    one: 'creative',
    many: 'creatives',
    path: '/api/advertising/network_a/creatives',
    ids: 'creative_ids',
    available: METRIC_NAMES,
    unsortable: [],
    columns: [
      { label: 'Creative', sort: 'name', cell: ({ id, name, headline }) => name ?? String(headline ?? id) },
      {
        label: 'Campaign',
        sort: 'campaign_name',
        class: 'second',
        cell: ({ campaign_id: id, campaign_name: name }) =>
          id ? <a href={reachedHref(String(id))}>{words(name ?? id)}</a> : NONE,
      },
      text('Status', 'status', 'status'),
      text('Review', 'review_status', 'review_status'),
    ],
    metrics: ['ad_spend', 'impressions', 'clicks', 'ctr', 'engagements', 'engagement_rate', 'leads'],
    charts: ['ad_spend', 'engagement_rate'],
    order: 'ad_spend',
    statuses: ['ACTIVE', 'PAUSED', 'ARCHIVED', 'DRAFT', 'CANCELED'],
  },
  companies: {
    label: 'Companies',
    one: 'company',
    many: 'companies',
    path: '/api/advertising/network_a/companies',
    ids: 'company_ids',
    available: COMPANY_METRIC_NAMES,
    unsortable: COMPANY_METRIC_NAMES.filter((name) => !COMPANY_SORTS.includes(name)),
    columns: [
      {
        label: 'Company',
        sort: 'name',
        cell: ({ id, name, domain }) => <a href={companyHref(id)}>{name ?? String(domain ?? id)}</a>,
      },
      text('Domain', 'domain'),
      text('Industry', 'industry'),
      {
        label: 'Campaigns reached',
        sort: 'campaigns_reached',
        class: 'figure',
        cell: (item) => figure(item.campaigns_reached as number, 'count'),
      },
    ],
    metrics: ['impressions', 'clicks', 'ctr', 'engagements', 'engagement_rate'],
    charts: ['engagements', 'engagement_rate'],
    order: 'engagements',
    statuses: [],
  },
};

/** The companies that a campaign reached. */
export const reachedHref = (campaignId: string) =>
  href('/advertising', { ...reportParams(), tab: 'companies', campaign: campaignId });

/** Without the parameters that belong to the other lists. */
const tabHref = (name: string) => {
  const others = ['sort', 'direction', 'page', 'status', 'query', 'chart', 'campaign'];
  const tab = name === 'campaigns' ? null : name;
  return hrefWith({ tab, ...Object.fromEntries(others.map((other) => [other, null])) });
};

const companyHref = (id: string) => href('/advertising/company', { ...reportParams(), company_id: id });

export function Advertising() {
  const scope = missingScope('advertising:read');
  const tabName = Object.hasOwn(TABS, param('tab')) ? param('tab') : 'campaigns';
  const tab = TABS[tabName] as Tab;
  const report = reportOf();
  const charts = chartMetrics(tab.available, tab.charts);
  const metrics = [...new Set([...tab.metrics, ...charts])];
  const columns: SortedColumn[] = [
    ...tab.columns,
    ...metrics.map((name) => ({
      label: METRICS[name].label,
      sort: tab.unsortable.includes(name) ? undefined : name,
      class: 'figure',
      cell: (item: Item) => <Figure name={name} of={item} before={item.previous} currency={item.currency} />,
    })),
  ];
  const sortBy = columns.some(({ sort }) => sort === param('sort')) ? param('sort') : tab.order;
  const direction = param('direction') === 'asc' ? 'asc' : 'desc';
  const status = tab.statuses.includes(param('status')) ? param('status') : '';
  const page = pageParam();
  const compared = COMPARISONS.some(([name]) => name === param('compare')) ? param('compare') : '';
  const campaign = param('campaign');
  const body = {
    organization_id: organizationId.value,
    ...report,
    ...(param('query') === '' ? {} : { search: param('query') }),
    ...(status === '' || tab.statuses.length === 0 ? {} : { statuses: [status] }),
    ...(campaign === '' ? {} : { campaign_ids: [campaign] }),
    ...(compared === '' ? {} : { compare_to: compared as Comparison }),
    metrics: withParts(metrics),
    sort_by: sortBy as 'name',
    sort_direction: direction as 'asc' | 'desc',
    page,
    page_size: PAGE,
  };
  const { data, error, loading, retry } = useRequest(tab.path, scope ? null : body);
  const items = (data?.items ?? []) as unknown as readonly Item[];
  const totals = (data?.totals ?? []) as readonly Record<string, string | number | null>[];
  const previousTotals = (data?.previous_totals ?? []) as typeof totals;
  const isFiltered = param('query') !== '' || status !== '' || campaign !== '';
  const previous = useRequest(
    tab.path,
    data?.previous_start_date && data.previous_end_date && items.length > 0 && !loading
      ? {
          organization_id: organizationId.value,
          start_date: data.previous_start_date,
          end_date: data.previous_end_date,
          granularity: report.granularity,
          ...(campaign === '' ? {} : { campaign_ids: [campaign] }),
          [tab.ids]: items.map(({ id }) => id),
          metrics: withParts(charts),
          page_size: PAGE,
        }
      : null,
  );
  const previousItems = (previous.data?.items ?? []) as unknown as readonly Item[];
  if (scope) return <NoPermission scope={scope} what="advertising" />;
  return (
    <div class="view">
      <div class="toolbar">
        <h1 class="hidden">Advertising</h1>
        <Segments
          label="Table"
          items={Object.entries(TABS).map(([name, { label }]) => [label, tabHref(name), name === tabName])}
        />
        <ReportControls report={report} />
        <div class="actions">
          <MetricPicker available={tab.available} chosen={charts} />
          <SavedFiltersButton />
          <ExportButton source={{ name: tabName, path: tab.path, body: { ...body, metrics } }} />
          <CurlButton url={tab.path} body={body} />
        </div>
      </div>
      {error && <Failure error={error} retry={retry} />}
      <Warnings warnings={data?.warnings ?? []} />
      {items.length > 0 && (
        <Charts
          metrics={charts}
          items={items}
          previous={compared === '' ? undefined : previousItems}
          caption={`The ${plural(items.length, tab.one, tab.many)} of this page together, ${report.granularity === 'daily' ? 'by day' : 'by month'}.`}
        />
      )}
      <div class="toolbar">
        <SearchBox label={`Search ${tab.many}`} resets={['page']} />
        {tab.statuses.length > 0 && (
          <SelectFilter
            name="status"
            label="Status"
            options={[['', 'any'], ...tab.statuses.map((value) => [value, words(value)] as const)]}
          />
        )}
        <SelectFilter name="compare" label="Compare with" options={COMPARISONS} />
        {campaign !== '' && (
          <span class="chips">
            <span class="chip">
              Reached by <CampaignName id={campaign} />
              <a href={hrefWith({ campaign: null, page: null })} aria-label="Of all campaigns">
                ×
              </a>
            </span>
          </span>
        )}
        <output class="total">{data && plural(data.total_count, tab.one, tab.many)}</output>
      </div>
      {items.length > 0 &&
        totals.map((total) => (
          <dl key={total.currency} class="totals">
            {totals.length > 1 && <Fact label="All in">{total.currency ?? 'unknown'}</Fact>}
            {metrics.map((name) => (
              <Fact key={name} label={METRICS[name].label}>
                <Figure
                  name={name}
                  of={total}
                  before={previousTotals.find(({ currency }) => currency === total.currency)}
                  currency={total.currency as string | null}
                />
              </Fact>
            ))}
          </dl>
        ))}
      {data?.total_count === 0 &&
        (isFiltered ? (
          <NoMatch what={tab.many} clear={['query', 'status', 'campaign', 'page']} />
        ) : (
          <NothingYet stream="network-a-deliveries">There are no {tab.many} in this range.</NothingYet>
        ))}
      {(data === undefined ? !error : data.total_count > 0) && (
        <FigureTable
          label={tab.label}
          columns={columns.map((column) => ({
            ...column,
            heading: <SortHead key={column.label} {...column} current={sortBy} direction={direction} />,
          }))}
          rows={data && items}
          keyOf={({ id }) => id}
          busy={loading}
        />
      )}
      {data && data.total_count > 0 && (
        <Pager page={page} pageSize={PAGE} total={data.total_count} one={tab.one} many={tab.many} />
      )}
    </div>
  );
}

interface FigureProps {
  name: Metric;
  of: Record<string, unknown>;
  /** Of the range that is compared with. */
  before?: Record<string, unknown>;
  currency?: string | null;
}

function Figure({ name, of, before, currency }: FigureProps) {
  const { kind } = METRICS[name];
  const value = figure(of[name] as string | number | null, kind, currency);
  if (!before) return <>{value}</>;
  return (
    <span title={`before: ${figure(before[name] as string | number | null, kind, currency)}`}>
      {value} <small class="delta">{change(of[name], before[name])}</small>
    </span>
  );
}

function CampaignName({ id }: { id: string }) {
  const { data } = useRequest('/api/advertising/network_a/campaigns', {
    ...reportOf(),
    campaign_ids: [id],
    metrics: ['impressions'],
    granularity: 'monthly',
  });
  return <>{data?.items[0]?.name ?? id}</>;
}

interface SortHeadProps extends Pick<SortedColumn, 'label' | 'sort' | 'class'> {
  current: string;
  direction: 'asc' | 'desc';
}

/** Figures begin with the highest, names with A; again turns the order round. */
function SortHead({ label, sort: by, current, direction, class: name }: SortHeadProps) {
  if (by === undefined) {
    return (
      <th scope="col" class={name}>
        {label}
      </th>
    );
  }
  const isCurrent = by === current;
  const first = name === 'figure' ? 'desc' : 'asc';
  const next = isCurrent ? (direction === 'asc' ? 'desc' : 'asc') : first;
  const sorted = isCurrent ? (direction === 'asc' ? 'ascending' : 'descending') : 'none';
  return (
    <th scope="col" class={name} aria-sort={sorted}>
      <button
        type="button"
        onClick={() => setParams({ sort: by, direction: next === 'asc' ? 'asc' : null, page: null })}
      >
        {label}
        <span aria-hidden="true">{isCurrent && (direction === 'asc' ? '↑' : '↓')}</span>
      </button>
    </th>
  );
}
