/** Label and format of each metric. The names are the server's: a new metric does not compile until it is added here. */
import type { Metric, SummedMetric } from '../advertising/metrics.js';
import type { Kind } from './format.js';

interface MetricText {
  label: string;
  kind: Kind;
  /** The direction that is good news; undefined if neither is. */
  good?: 'more' | 'less';
}
interface RateText extends MetricText {
  numerator: SummedMetric;
  denominator: SummedMetric;
  factor: number;
}

const rate = (
  label: string,
  kind: Kind,
  numerator: SummedMetric,
  denominator: SummedMetric,
  factor = 1,
): RateText => ({
  label,
  kind,
  numerator,
  denominator,
  factor,
  // Every rate of money is a cost.
  good: kind === 'money' ? 'less' : 'more',
});

const counted = (label: string): MetricText => ({ label, kind: 'count', good: 'more' });

export const METRICS: Record<Metric, MetricText | RateText> = {
  ad_spend: { label: 'Spend', kind: 'money' },
  impressions: counted('Impressions'),
  clicks: counted('Clicks'),
  ctr: rate('CTR', 'percent', 'clicks', 'impressions'),
  engagements: counted('Engagements'),
  engagement_rate: rate('Engagement rate', 'percent', 'engagements', 'impressions'),
  landing_page_clicks: counted('Landing page clicks'),
  reactions: counted('Reactions'),
  comments: counted('Comments'),
  shares: counted('Shares'),
  follows: counted('Follows'),
  video_views: counted('Video views'),
  video_completions: counted('Video completions'),
  leads: counted('Leads'),
  lead_form_opens: counted('Lead form opens'),
  conversions: counted('Conversions'),
  conversion_value: { label: 'Conversion value', kind: 'money', good: 'more' },
  cpc: rate('CPC', 'money', 'ad_spend', 'clicks'),
  cpm: rate('CPM', 'money', 'ad_spend', 'impressions', 1000),
  cost_per_engagement: rate('Cost per engagement', 'money', 'ad_spend', 'engagements'),
  cost_per_lead: rate('Cost per lead', 'money', 'ad_spend', 'leads'),
  cost_per_conversion: rate('Cost per conversion', 'money', 'ad_spend', 'conversions'),
  conversion_rate: rate('Conversion rate', 'percent', 'conversions', 'clicks'),
  return_on_ad_spend: rate('ROAS', 'ratio', 'conversion_value', 'ad_spend'),
};

/** Every metric, in the order in which it is shown. */
export const SHOWN_METRICS = Object.keys(METRICS) as Metric[];

const partsOf = (name: Metric): Metric[] => {
  const metric = METRICS[name];
  return 'numerator' in metric ? [metric.numerator, metric.denominator] : [name];
};

const isOfMoney = (name: Metric) => partsOf(name).some((part) => METRICS[part].kind === 'money');

/** Networks do not break money down by company. */
export const SHOWN_COMPANY_METRICS = SHOWN_METRICS.filter((name) => !isOfMoney(name));

/** Metrics to request, including the metrics that a rate is computed from, so that a chart can add up rows. */
export const withParts = (names: readonly Metric[]): Metric[] => [
  ...new Set([...names, ...names.flatMap(partsOf)]),
];

/** One period of a time series. Summed metrics add up over items; rates are computed from the sums. */
export interface Point {
  period: string;
  start_date: string;
  provisional: boolean;
  [metric: string]: unknown;
}

/** Fields of an item that charts read. An item without money has no currency. */
export interface Charted {
  currency?: string | null;
  timeseries: readonly Point[];
}

/** Groups of items whose metric may be added up: one group per currency for money, otherwise one group. */
export function addable(items: readonly Charted[], name: Metric): [currency: string | null, Charted[]][] {
  if (!isOfMoney(name)) return [[null, [...items]]];
  const groups = new Map<string | null, Charted[]>();
  for (const item of items) {
    const currency = item.currency ?? null;
    groups.set(currency, [...(groups.get(currency) ?? []), item]);
  }
  return [...groups];
}

/** The value of a metric over several items in each period. Items may lack points in a period. Null if the denominator of a rate is 0. */
export function sumSeries(
  series: readonly (readonly Point[])[],
  name: Metric,
  periods: readonly string[],
): (number | null)[] {
  const metric = METRICS[name];
  const sums = new Map(periods.map((period) => [period, { numerator: 0, denominator: 0 }]));
  for (const point of series.flat()) {
    const sum = sums.get(point.period);
    if (!sum) continue;
    sum.numerator += Number(point['numerator' in metric ? metric.numerator : name] ?? 0);
    if ('denominator' in metric) sum.denominator += Number(point[metric.denominator] ?? 0);
  }
  return [...sums.values()].map(({ numerator, denominator }) => {
    if (!('denominator' in metric)) return numerator;
    return denominator === 0 ? null : (metric.factor * numerator) / denominator;
  });
}
