/**
 * Table of metrics, from which schemas, queries, items and documents about metrics are generated. Tests compare it with the places that list
 * metrics by hand: the tables and views in mappings/clickhouse, `active` in the view company_deliveries_mv, console/metrics.ts and
 * mcp/sql-views.ts. The sample data in demo/deliveries.ts lists metrics too.
 */

/** Kind of a summed metric. `count` is an integer. `money` is an exact decimal, written as a string. */
export type SummedKind = 'count' | 'money';

/** Metrics of a delivery, which add up (contract 5.2). */
export const SUMMED_METRICS = {
  ad_spend: { kind: 'money', description: 'Money spent, in the currency of the campaign.' },
  impressions: { kind: 'count', description: 'Times an ad was shown.' },
  clicks: { kind: 'count', description: 'Clicks of any kind on an ad.' },
  landing_page_clicks: { kind: 'count', description: 'Clicks that led to the landing page.' },
  engagements: {
    kind: 'count',
    description: 'Clicks and social actions together, as the network counts them.',
  },
  reactions: { kind: 'count', description: 'Likes and other reactions.' },
  comments: { kind: 'count', description: 'Comments.' },
  shares: { kind: 'count', description: 'Shares.' },
  follows: { kind: 'count', description: 'Follows of the advertiser.' },
  video_views: { kind: 'count', description: 'Video views.' },
  video_completions: { kind: 'count', description: 'Videos watched to the end.' },
  leads: { kind: 'count', description: 'Leads gathered with a form.' },
  lead_form_opens: { kind: 'count', description: 'Times a lead form was opened.' },
  conversions: { kind: 'count', description: 'Conversions on the site.' },
  conversion_value: {
    kind: 'money',
    description: 'Value of those conversions, in the currency of the campaign.',
  },
} as const satisfies Record<string, { kind: SummedKind; description: string }>;
export type SummedMetric = keyof typeof SUMMED_METRICS;

/**
 * A rate is `factor` × `numerator` ÷ `denominator`, which are both summed first; null if the denominator is 0; rounded half up to 6
 * decimals.
 */
export const RATES = {
  ctr: { numerator: 'clicks', denominator: 'impressions', factor: 1, description: 'Clicks per impression.' },
  engagement_rate: {
    numerator: 'engagements',
    denominator: 'impressions',
    factor: 1,
    description: 'Engagements per impression.',
  },
  cpc: { numerator: 'ad_spend', denominator: 'clicks', factor: 1, description: 'Money spent per click.' },
  cpm: {
    numerator: 'ad_spend',
    denominator: 'impressions',
    factor: 1000,
    description: 'Money spent per thousand impressions.',
  },
  cost_per_engagement: {
    numerator: 'ad_spend',
    denominator: 'engagements',
    factor: 1,
    description: 'Money spent per engagement.',
  },
  cost_per_lead: {
    numerator: 'ad_spend',
    denominator: 'leads',
    factor: 1,
    description: 'Money spent per lead.',
  },
  cost_per_conversion: {
    numerator: 'ad_spend',
    denominator: 'conversions',
    factor: 1,
    description: 'Money spent per conversion.',
  },
  conversion_rate: {
    numerator: 'conversions',
    denominator: 'clicks',
    factor: 1,
    description: 'Conversions per click.',
  },
  return_on_ad_spend: {
    numerator: 'conversion_value',
    denominator: 'ad_spend',
    factor: 1,
    description: 'Conversion value per unit of money spent.',
  },
} as const satisfies Record<
  string,
  { numerator: SummedMetric; denominator: SummedMetric; factor: 1 | 1000; description: string }
>;
export type Rate = keyof typeof RATES;
export type Metric = SummedMetric | Rate;

export const SUMMED_NAMES = Object.keys(SUMMED_METRICS) as SummedMetric[];
export const RATE_NAMES = Object.keys(RATES) as Rate[];
export const METRIC_NAMES: Metric[] = [...SUMMED_NAMES, ...RATE_NAMES];

export const isRate = (metric: Metric): metric is Rate => metric in RATES;

export const isMoney = (name: SummedMetric) => SUMMED_METRICS[name].kind === 'money';

/** Whether values are amounts of a currency: money, or money per count. */
export const isAmount = (metric: Metric) =>
  isRate(metric) ? isMoney(RATES[metric].numerator) && !isMoney(RATES[metric].denominator) : isMoney(metric);

/** Metrics of companies: all metrics except money, which networks do not break down by company. */
export const COMPANY_METRIC_NAMES: Metric[] = [
  ...SUMMED_NAMES.filter((name) => !isMoney(name)),
  ...RATE_NAMES.filter((name) => !isMoney(RATES[name].numerator) && !isMoney(RATES[name].denominator)),
];
