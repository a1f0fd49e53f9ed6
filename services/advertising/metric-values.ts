/** Metric values of items and points: the metrics asked for, out of summed rows. */

import { type Decimal, decimal, type MetricSums, quotient } from './derived-metrics.js';
import { type Metric, RATES, type Rate, SUMMED_METRICS, SUMMED_NAMES, type SummedMetric } from './metrics.js';
import type { MetricValues } from './responses.js';

const isRate = (metric: Metric): metric is Rate => metric in RATES;
const zeroOf = (name: SummedMetric) => (SUMMED_METRICS[name].kind === 'money' ? '0' : 0);

/** The metrics whose sums the given metrics and rates need, in the order of the table. */
export function requiredSums(metrics: readonly Metric[]): SummedMetric[] {
  const needed = new Set<SummedMetric>();
  for (const metric of metrics) {
    if (isRate(metric)) {
      needed.add(RATES[metric].numerator);
      needed.add(RATES[metric].denominator);
    } else {
      needed.add(metric);
    }
  }
  return SUMMED_NAMES.filter((name) => needed.has(name));
}

/** Writes figures of summed rows, or zeros, onto an object; onto it because copying them costs more than all else. */
export type MetricWriter = <T extends object>(target: T, sums: MetricSums) => T & MetricValues;

/** A writer of the figures asked for. What several rates are made of is read once a row. */
export function metricWriter(metrics: readonly Metric[]): MetricWriter {
  const divided = requiredSums(metrics.filter(isRate));
  const readers = metrics.map((metric): ((sums: MetricSums, parts: Decimal[]) => string | number | null) => {
    if (!isRate(metric)) {
      const zero = zeroOf(metric);
      return (sums) => sums[metric] ?? zero;
    }
    const { numerator, denominator, factor } = RATES[metric];
    const above = divided.indexOf(numerator);
    const below = divided.indexOf(denominator);
    return (_, parts) => quotient(parts[above] as Decimal, parts[below] as Decimal, factor);
  });
  return (target, sums) => {
    const figures: MetricValues = target;
    const parts = divided.map((name) => decimal(sums[name] ?? 0));
    for (let index = 0; index < metrics.length; index++) {
      figures[metrics[index] as Metric] = (readers[index] as (typeof readers)[number])(sums, parts);
    }
    return target as typeof target & MetricValues;
  };
}

/** Counts of rows, added. Money does not occur in the rows of companies. */
export function addCounts(rows: readonly MetricSums[], names: readonly SummedMetric[]): MetricSums {
  const total: MetricSums = {};
  for (const name of names) {
    total[name] = rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0);
  }
  return total;
}
