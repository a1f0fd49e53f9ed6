/** Campaigns, creatives and companies: definitions shared by their lists and pages. */
import { useMemo } from 'preact/hooks';
import type { Metric } from '../advertising/metrics.js';
import type { CAMPAIGN_STATUSES } from '../advertising/normalization.js';
import type { Scope } from '../http/scopes.js';
import type { RequestOf, ResponseOf } from './api.js';
import { Fact } from './components/fact.js';
import { reportParams } from './components/report-controls.js';
import type { Column } from './components/table.js';
import { change, daysBetween, figure, NONE, periodsOf, rangeText } from './format.js';
import { METRICS, type Point, SHOWN_COMPANY_METRICS, SHOWN_METRICS, withParts } from './metrics.js';
import { href } from './router.js';
import { missingScopeOf } from './session.js';
import { type Answer, shownOf, useRequest } from './use-request.js';

/** Fields that every item of the three lists has. */
export interface AdItem {
  id: string;
  name: string | null;
  currency?: string | null;
  timeseries: readonly Point[];
  previous?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface AdColumn extends Column<AdItem> {
  /** Value of `sort_by` for this column, if the list can be sorted by it. */
  sort?: string;
}

export interface AdList {
  label: string;
  one: string;
  many: string;
  path:
    | '/api/advertising/network_a/campaigns'
    | '/api/advertising/network_a/creatives'
    | '/api/advertising/network_a/companies';
  /** The request field that filters this list by the ids of its items. */
  ids: 'campaign_ids' | 'creative_ids' | 'company_ids';
  available: readonly Metric[];
  /** Metrics that the list cannot be sorted by. */
  unsortable: readonly Metric[];
  columns: readonly AdColumn[];
  metrics: readonly Metric[];
  charts: readonly Metric[];
  order: string;
  statuses: readonly string[];
}

const pageHref = (name: string, params: Record<string, string>) =>
  href(`/advertising/${name}`, { ...reportParams(), ...params });
export const campaignHref = (campaign_id: string) => pageHref('campaign', { campaign_id });
const creativeHref = (creative_id: string) => pageHref('creative', { creative_id });
const companyHref = (company_id: string) => pageHref('company', { company_id });

/** Scopes that the pages of companies need. */
export const COMPANY_SCOPES: readonly Scope[] = ['advertising:read', 'visits:read', 'contacts:read'];
/** Whether the key sees companies with their visits and people. Other keys see the ads alone. */
export const seesCompanies = () => missingScopeOf(COMPANY_SCOPES) === null;
/** The page of a company with its ads, visits and people. */
export const domainHref = (domain: string) => href('/companies/company', { ...reportParams(), domain });

/** A link to the campaign of a creative. */
export const campaignOf = ({ campaign_id: id, campaign_name: name }: AdItem) =>
  id ? <a href={campaignHref(String(id))}>{String(name ?? id)}</a> : NONE;

/** Formats a code such as `LEAD_GENERATION` for people. */
export function words(value: unknown): string {
  if (typeof value !== 'string') return value === null || value === undefined ? NONE : String(value);
  if (!/^[A-Z_]+$/.test(value)) return value;
  return value[0] + value.slice(1).toLowerCase().replaceAll('_', ' ');
}

const text = (label: string, field: string, sort?: string): AdColumn => ({
  label,
  sort,
  choice: 'standard',
  class: 'second',
  cell: (item) => words(item[field]),
});

/** Statuses of the server. A new status does not compile until it is added here. */
const STATUSES = Object.keys({
  ACTIVE: true,
  PAUSED: true,
  COMPLETED: true,
  ARCHIVED: true,
  DRAFT: true,
  CANCELED: true,
  PENDING_DELETION: true,
  REMOVED: true,
} satisfies Record<(typeof CAMPAIGN_STATUSES)[number], true>);

const COMPANY_SORTS: readonly Metric[] = ['impressions', 'clicks', 'engagements', 'engagement_rate'];
export const nameOf = ({ id, name, headline, domain }: AdItem) => name ?? String(headline ?? domain ?? id);

export const AD_LISTS = {
  campaigns: {
    label: 'Campaigns',
    one: 'campaign',
    many: 'campaigns',
    path: '/api/advertising/network_a/campaigns',
    ids: 'campaign_ids',
    available: SHOWN_METRICS,
    unsortable: [],
    columns: [
      {
        label: 'Campaign',
        sort: 'name',
        cell: (item) => <a href={campaignHref(item.id)}>{nameOf(item)}</a>,
      },
      text('Status', 'status', 'status'),
      text('Objective', 'objective_type', 'objective_type'),
    ],
    metrics: ['ad_spend', 'impressions', 'clicks', 'ctr', 'engagements', 'engagement_rate', 'leads'],
    charts: ['ad_spend', 'engagement_rate'],
    order: 'ad_spend',
    statuses: STATUSES,
  },
  creatives: {
    label: 'Creatives',
    one: 'creative',
    many: 'creatives',
    path: '/api/advertising/network_a/creatives',
    ids: 'creative_ids',
    available: SHOWN_METRICS,
    unsortable: [],
    columns: [
      {
        label: 'Creative',
        sort: 'name',
        cell: (item) => <a href={creativeHref(item.id)}>{nameOf(item)}</a>,
      },
      {
        label: 'Campaign',
        sort: 'campaign_name',
        choice: 'standard',
        class: 'second',
        cell: campaignOf,
      },
      text('Status', 'status', 'status'),
      text('Review', 'review_status', 'review_status'),
    ],
    metrics: ['ad_spend', 'impressions', 'clicks', 'ctr', 'engagements', 'engagement_rate', 'leads'],
    charts: ['ad_spend', 'engagement_rate'],
    order: 'ad_spend',
    statuses: STATUSES,
  },
  companies: {
    label: 'Companies',
    one: 'company',
    many: 'companies',
    path: '/api/advertising/network_a/companies',
    ids: 'company_ids',
    available: SHOWN_COMPANY_METRICS,
    unsortable: SHOWN_COMPANY_METRICS.filter((name) => !COMPANY_SORTS.includes(name)),
    columns: [
      {
        label: 'Company',
        sort: 'name',
        cell: (item) => (
          <a
            href={
              typeof item.domain === 'string' && seesCompanies()
                ? domainHref(item.domain)
                : companyHref(item.id)
            }
          >
            {nameOf(item)}
          </a>
        ),
      },
      text('Domain', 'domain'),
      text('Industry', 'industry'),
      {
        label: 'Campaigns reached',
        choice: 'standard',
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
} satisfies Record<string, AdList>;

type Body = RequestOf<AdList['path']> & { currency?: string };

/** A response with its items and the request that it answers. */
export interface ShownAds {
  data: ResponseOf<AdList['path']>;
  of: Body;
  granularity: 'daily' | 'monthly';
  /** Days or months of the requested range. */
  periods: readonly string[];
  items: readonly AdItem[];
  /** The items in the comparison range. Each point has the date of the current period that it is compared with. */
  previousItems: readonly AdItem[] | undefined;
}

/** Maximum number of time-series points per response. */
const MAX_POINTS = 100_000;

/**
 * Maps the points of an earlier range to periods of the current range: day by day from the first day, or month by month for months of
 * ranges with different lengths.
 */
function comparisonOf(
  { start_date: start = '', end_date: end = '' }: Body,
  { previous_start_date: earlierStart, previous_end_date: earlierEnd }: ResponseOf<AdList['path']>,
  granularity: 'daily' | 'monthly',
) {
  if (!earlierStart || !earlierEnd) return undefined;
  const areAsLong = daysBetween(earlierStart, earlierEnd) === daysBetween(start, end);
  const by = areAsLong ? 'daily' : granularity;
  const earlier = periodsOf(earlierStart, earlierEnd, by);
  const periods = periodsOf(start, end, by);
  const places = new Map(earlier.map((period, index) => [period, periods[index]]));
  return {
    start_date: earlierStart,
    end_date: earlierEnd,
    granularity: by,
    count: earlier.length,
    periodOf: (period: string) => places.get(period)?.slice(0, granularity === 'monthly' ? 7 : 10) ?? '',
  };
}

/** Items of a list, and their series in the comparison range if there is one. `null` sends no request. */
export function useAds(
  list: AdList,
  body: Body | null,
  charts: readonly Metric[],
): { answer: Answer<AdList['path']>; before: Answer<AdList['path']>; shown: ShownAds | undefined } {
  const answer = useRequest(list.path, body);
  const last = shownOf(answer);
  const data = last?.data;
  const of: Body | undefined = last?.of;
  const granularity = of?.granularity ?? 'daily';
  const comparison = data && of && comparisonOf(of, data, granularity);
  const ids = data?.items.map(({ id }) => id) ?? [];
  const before = useRequest(
    list.path,
    of && comparison && ids.length > 0 && ids.length * comparison.count <= MAX_POINTS
      ? {
          organization_id: of.organization_id,
          start_date: comparison.start_date,
          end_date: comparison.end_date,
          granularity: comparison.granularity,
          campaign_ids: of.campaign_ids,
          ...(of.currency && { currency: of.currency }),
          [list.ids]: ids,
          metrics: withParts(charts) as 'impressions'[],
          page_size: ids.length,
        }
      : null,
  );
  const earlier = before.state === 'current' ? before.data : undefined;
  const shown = useMemo((): ShownAds | undefined => {
    if (!data || !of) return undefined;
    // Converted money is no longer in the currency of the campaign.
    const itemsOf = ({ items }: typeof data): AdItem[] =>
      (items as unknown as readonly AdItem[]).map((item) => ({
        ...item,
        ...(of.currency && { currency: of.currency }),
      }));
    const inPeriods = ({ timeseries, ...item }: AdItem): AdItem => ({
      ...item,
      timeseries: timeseries.map((point) => ({
        ...point,
        period: comparison?.periodOf(point.period) ?? '',
      })),
    });
    return {
      data,
      of,
      granularity,
      periods: periodsOf(of.start_date ?? '', of.end_date ?? '', granularity),
      items: itemsOf(data),
      previousItems: comparison && earlier && itemsOf(earlier).map(inPeriods),
    };
  }, [data, of, earlier]);
  return { answer, before, shown };
}

/** Labels an old response: `These figures are for 1 Oct – 25 Oct 2026, in EUR.` */
export const oldFigures = ({ of }: ShownAds) =>
  `These figures are for ${rangeText(of.start_date ?? '', of.end_date ?? '')}${of.currency ? `, in ${of.currency}` : ''}.`;

/** The requested metrics that the response contains. */
export const answered = (metrics: readonly Metric[], { of }: ShownAds) =>
  metrics.filter((name) => (of.metrics as readonly Metric[] | undefined)?.includes(name));

type Figures = Readonly<Record<string, unknown>>;

interface FigureProps {
  name: Metric;
  of: Figures;
  /** Totals of the comparison range. */
  before?: Figures;
  currency?: string | null;
}

export function Figure({ name, of, before, currency }: FigureProps) {
  const { kind } = METRICS[name];
  const value = figure(of[name] as string | number | null, kind, currency);
  if (!before) return <>{value}</>;
  return (
    <span title={`before: ${figure(before[name] as string | number | null, kind, currency)}`}>
      {value} <small class="delta">{change(of[name], before[name])}</small>
    </span>
  );
}

/** Columns of metrics. Each shows the change if the items have an earlier value. */
export const figureColumns = (list: AdList, metrics: readonly Metric[]): AdColumn[] =>
  metrics.map((name) => ({
    label: METRICS[name].label,
    choice: 'standard',
    sort: list.unsortable.includes(name) ? undefined : name,
    class: 'figure',
    cell: (item) => <Figure name={name} of={item} before={item.previous} currency={item.currency} />,
  }));

interface TotalsProps extends Omit<FigureProps, 'name'> {
  metrics: readonly Metric[];
  /** Metrics that are compared in a sentence. */
  main: readonly Metric[];
  /** What the totals cover, if there are several totals. */
  label?: string;
  /** The response, which names the comparison range. */
  answer: { previous_start_date?: string; previous_end_date?: string };
}

export function Totals({ metrics, main, label, answer, ...figures }: TotalsProps) {
  const { previous_start_date: start, previous_end_date: end } = answer;
  return (
    <>
      <dl class="totals">
        {label !== undefined && <Fact label="All in">{label}</Fact>}
        {metrics.map((name) => (
          <Fact key={name} label={METRICS[name].label}>
            <Figure name={name} {...figures} />
          </Fact>
        ))}
      </dl>
      {start && end && (
        <p class="note">
          {label === undefined ? 'Against' : `${label} against`} {rangeText(start, end)}:{' '}
          {compared(main, figures)}.
        </p>
      )}
    </>
  );
}

/** Compares the totals in a sentence: `Spend up 12%, from $20,943.00; Clicks unchanged`. */
function compared(
  names: readonly Metric[],
  { of, before = {}, currency }: Omit<FigureProps, 'name'>,
): string {
  return names
    .map((name) => {
      const { label, kind } = METRICS[name];
      const earlier = figure(before[name] as string | number | null, kind, currency);
      const by = change(of[name], before[name]);
      if (by === '') return `${label} unknown`;
      if (by === 'new') return `${label} none before`;
      if (by.startsWith('±')) return `${label} unchanged`;
      return `${label} ${by.startsWith('+') ? 'up' : 'down'} ${by.slice(1)}, from ${earlier}`;
    })
    .join('; ');
}
