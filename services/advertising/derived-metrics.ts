/** Rates, exactly: whole numbers are divided, never fractions, and the last digit is rounded half up. */
import type { SummedMetric } from './metrics.js';

/** Decimals of a rate. */
export const RATE_DECIMALS = 6;
const SCALE = 10 ** RATE_DECIMALS;

/** Summed metrics of a row: counts as numbers, money as plain decimal text. */
export type MetricSums = { [K in SummedMetric]?: string | number };

/** `digits` ÷ 10^`scale`; digits above 2^53 are exact only as text. */
export interface Decimal {
  digits: number;
  text: string | number;
  scale: number;
}

export function decimal(value: string | number): Decimal {
  if (typeof value === 'number') return { digits: value, text: value, scale: 0 };
  const point = value.indexOf('.');
  const text = point < 0 ? value : value.slice(0, point) + value.slice(point + 1);
  return { digits: Number(text), text, scale: point < 0 ? 0 : value.length - point - 1 };
}

const POWERS = Array.from({ length: 13 }, (_, power) => 10 ** power);

/** `factor` × numerator ÷ denominator in millionths, half up. */
function millionths(numerator: Decimal, denominator: Decimal, factor: number): number | bigint {
  const above = numerator.digits * factor * (POWERS[denominator.scale] as number) * SCALE;
  const below = denominator.digits * (POWERS[numerator.scale] as number);
  // Below 2^53 every step is exact in a number, and so is the floor of the quotient.
  if (2 * above + below <= Number.MAX_SAFE_INTEGER && 2 * below <= Number.MAX_SAFE_INTEGER) {
    return Math.floor((2 * above + below) / (2 * below));
  }
  const exactNumerator =
    BigInt(numerator.text) * BigInt(factor) * 10n ** BigInt(denominator.scale) * BigInt(SCALE);
  const exactDenominator = BigInt(denominator.text) * 10n ** BigInt(numerator.scale);
  return (2n * exactNumerator + exactDenominator) / (2n * exactDenominator);
}

/** A rate of summed figures, 6 decimals, null where it cannot be divided. */
export function quotient(numerator: Decimal, denominator: Decimal, factor: number): number | null {
  if (denominator.digits === 0) return null;
  if (numerator.digits === 0) return 0;
  const result = millionths(numerator, denominator, factor);
  if (typeof result === 'number') return result / SCALE;
  const text = result.toString().padStart(RATE_DECIMALS + 1, '0');
  return Number(`${text.slice(0, -RATE_DECIMALS)}.${text.slice(-RATE_DECIMALS)}`);
}
