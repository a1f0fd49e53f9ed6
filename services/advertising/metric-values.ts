/**
 * Values of the requested metrics, computed from summed rows. Rates are exact: integers are divided, never fractions, and the result is
 * rounded half up to six decimals.
 */
import { isMoney, isRate, type Metric, RATES, SUMMED_NAMES, type SummedMetric } from './metrics.js';

/** Decimals of a rate. */
const RATE_DECIMALS = 6;
const SCALE = 10 ** RATE_DECIMALS;

/** Summed metrics of a row: counts as numbers, money as plain decimal text. */
export type MetricSums = { [K in SummedMetric]?: string | number };

/** The number `coefficient` ÷ 10^`scale`. A coefficient above 2^53 is exact only as text. */
interface Decimal {
  coefficient: number;
  text: string | number;
  scale: number;
}

function decimal(value: string | number): Decimal {
  if (typeof value === 'number') return { coefficient: value, text: value, scale: 0 };
  const point = value.indexOf('.');
  const text = point < 0 ? value : value.slice(0, point) + value.slice(point + 1);
  return { coefficient: Number(text), text, scale: point < 0 ? 0 : value.length - point - 1 };
}

const POWERS = Array.from({ length: 13 }, (_, power) => 10 ** power);

/** The value of `factor` × numerator ÷ denominator in millionths, rounded half up. */
function millionths(numerator: Decimal, denominator: Decimal, factor: number): number | bigint {
  const scaledNumerator = numerator.coefficient * factor * (POWERS[denominator.scale] as number) * SCALE;
  const scaledDenominator = denominator.coefficient * (POWERS[numerator.scale] as number);
  // Below 2^53, every step is exact in a number, including the floor of the quotient.
  if (
    2 * scaledNumerator + scaledDenominator <= Number.MAX_SAFE_INTEGER &&
    2 * scaledDenominator <= Number.MAX_SAFE_INTEGER
  ) {
    return Math.floor((2 * scaledNumerator + scaledDenominator) / (2 * scaledDenominator));
  }
  const exactNumerator =
    BigInt(numerator.text) * BigInt(factor) * 10n ** BigInt(denominator.scale) * BigInt(SCALE);
  const exactDenominator = BigInt(denominator.text) * 10n ** BigInt(numerator.scale);
  return (2n * exactNumerator + exactDenominator) / (2n * exactDenominator);
}

/** A rate of two sums with 6 decimals; null if the denominator is 0. */
function quotient(numerator: Decimal, denominator: Decimal, factor: number): number | null {
  if (denominator.coefficient === 0) return null;
  if (numerator.coefficient === 0) return 0;
  const result = millionths(numerator, denominator, factor);
  if (typeof result === 'number') return result / SCALE;
  const text = result.toString().padStart(RATE_DECIMALS + 1, '0');
  return Number(`${text.slice(0, -RATE_DECIMALS)}.${text.slice(-RATE_DECIMALS)}`);
}

/** The sums from which the given metrics and rates are computed, in the order of the table. */
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

/** Returns a function that prints the metrics of a summed row (zeros if undefined) as fields of a JSON object without its braces. */
export function metricPrinter(metrics: readonly Metric[]): (sums: MetricSums) => string {
  const rateSums = requiredSums(metrics.filter(isRate));
  const printers = metrics.map((metric): ((sums: MetricSums, decimals: Decimal[]) => string) => {
    const name = `"${metric}":`;
    if (!isRate(metric)) {
      return isMoney(metric)
        ? (sums) => `${name}"${sums[metric] ?? '0'}"`
        : (sums) => `${name}${sums[metric] ?? 0}`;
    }
    const { numerator, denominator, factor } = RATES[metric];
    const numeratorIndex = rateSums.indexOf(numerator);
    const denominatorIndex = rateSums.indexOf(denominator);
    return (_, decimals) =>
      name + quotient(decimals[numeratorIndex] as Decimal, decimals[denominatorIndex] as Decimal, factor);
  });
  return (sums) => {
    // Each sum is parsed once, because several rates use the same sum.
    const decimals = rateSums.map((name) => decimal(sums[name] ?? 0));
    return printers.map((print) => print(sums, decimals)).join();
  };
}
