/** Campaigns, creatives and companies: definitions shared by their lists and pages. */
import { useMemo } from 'preact/hooks';
import type { Metric } from '../advertising/metrics.js';
import type { CAMPAIGN_STATUSES } from '../advertising/normalization.js';
import type { RequestOf, ResponseOf } from './api.js';
import { reportParams } from './components/report-controls.js';
import type { Column } from './components/table.js';
import { Figure } from './components/totals.js';
import { daysBefore, daysBetween, figure, NONE, periodsOf, rangeText, today } from './format.js';
import { METRICS, type Point, SHOWN_COMPANY_METRICS, SHOWN_METRICS, withParts } from './metrics.js';
import { href } from './router.js';
import { organizationId } from './session.js';
import { type Answer, shownOf, useRequest } from './use-request.js';
import { seesCompanies } from './view-scopes.js';

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
  /** Whole weeks between a day and the day that it is compared with. */
  weeks: number | undefined;
}

/** Maximum number of time-series points per response. */
const MAX_POINTS = 100_000;

/** The earlier range that a chart draws, and the period of the current range that each of its periods is compared with. */
interface Comparison {
  start_date: string;
  end_date: string;
  granularity: 'daily' | 'monthly';
  periodOf(earlier: string): string;
  /** Whole weeks between a day and the day that it is compared with. */
  weeks?: number;
}

/**
 * Compares days with the same weekday, so the range that is drawn may begin some days before or after the range of the totals. Compares
 * months with months, or with as many days as they have.
 */
function comparisonOf(
  { start_date: start = '', end_date: end = '' }: Body,
  { previous_start_date: earlierStart, previous_end_date: earlierEnd }: ResponseOf<AdList['path']>,
  granularity: 'daily' | 'monthly',
): Comparison | undefined {
  if (!earlierStart || !earlierEnd) return undefined;
  if (granularity === 'daily') {
    const weeks = Math.max(1, Math.round(daysBetween(earlierStart, start) / 7));
    return {
      start_date: daysBefore(start, weeks * 7),
      end_date: daysBefore(end, weeks * 7),
      granularity,
      periodOf: (day) => daysBefore(day, -weeks * 7),
      weeks,
    };
  }
  const areAsLong = daysBetween(earlierStart, earlierEnd) === daysBetween(start, end);
  const by = areAsLong ? 'daily' : granularity;
  const periods = periodsOf(start, end, by);
  const places = new Map(
    periodsOf(earlierStart, earlierEnd, by).map((period, index) => [period, periods[index]]),
  );
  return {
    start_date: earlierStart,
    end_date: earlierEnd,
    granularity: by,
    periodOf: (period) => places.get(period)?.slice(0, 7) ?? '',
  };
}

const countOf = ({ start_date, end_date, granularity }: Comparison) =>
  periodsOf(start_date, end_date, granularity).length;

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
    of && comparison && ids.length > 0 && ids.length * countOf(comparison) <= MAX_POINTS
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
      weeks: comparison?.weeks,
    };
  }, [data, of, earlier]);
  return { answer, before, shown };
}

/**
 * The currency of most campaigns, if campaigns have several currencies. Money is converted to it unless the address names another. The
 * request reads no deliveries but those of one day.
 */
export function useMainCurrency(isWanted: boolean): { currency?: string; loading: boolean } {
  const yesterday = daysBefore(today(), 1);
  const answer = useRequest(
    AD_LISTS.campaigns.path,
    isWanted
      ? {
          organization_id: organizationId.value,
          start_date: yesterday,
          end_date: yesterday,
          metrics: ['impressions'],
          page_size: 1,
        }
      : null,
  );
  const totals = shownOf(answer)?.data.totals ?? [];
  return {
    currency: (totals.length > 1 && totals.find(({ currency }) => currency)?.currency) || undefined,
    loading: isWanted && answer.state === 'none',
  };
}

/** Labels an old response: `These figures are for 1 Oct – 25 Oct 2026, in EUR.` */
export const oldFigures = ({ of }: ShownAds) =>
  `These figures are for ${rangeText(of.start_date ?? '', of.end_date ?? '')}${of.currency ? `, in ${of.currency}` : ''}.`;

/** The requested metrics that the response contains. */
export const answered = (metrics: readonly Metric[], { of }: ShownAds) =>
  metrics.filter((name) => (of.metrics as readonly Metric[] | undefined)?.includes(name));

/** Columns of metrics. Each shows the change if the items have an earlier value. */
export const figureColumns = (list: AdList, metrics: readonly Metric[]): AdColumn[] =>
  metrics.map((name) => ({
    label: METRICS[name].label,
    choice: 'standard',
    sort: list.unsortable.includes(name) ? undefined : name,
    class: 'figure',
    cell: (item) => <Figure name={name} of={item} before={item.previous} currency={item.currency} />,
  }));
