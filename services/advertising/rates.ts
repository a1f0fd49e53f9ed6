/** Rates, exactly: whole numbers are divided, never fractions, and the last digit is rounded half up. */
import { RATES, type Rate, type SummedMetric } from './metrics.js';

/** Decimals of a rate. */
export const RATE_DECIMALS = 6;
const SCALE = 10 ** RATE_DECIMALS;

/** Summed metrics of a row: counts as numbers, money as plain decimal text. */
export type Sums = { [K in SummedMetric]?: string | number };

/** `digits` ÷ 10^`scale`. */
interface Decimal {
  digits: string;
  scale: number;
}

function decimal(value: string | number): Decimal {
  const text = typeof value === 'number' ? BigInt(value).toString() : value;
  const point = text.indexOf('.');
  if (point < 0) return { digits: text, scale: 0 };
  return { digits: text.slice(0, point) + text.slice(point + 1), scale: text.length - point - 1 };
}

/** `factor` × numerator ÷ denominator in millionths, half up; null for a denominator of 0. */
function millionths(numerator: Decimal, denominator: Decimal, factor: number): number | bigint | null {
  const above = Number(numerator.digits) * factor * 10 ** denominator.scale * SCALE;
  const below = Number(denominator.digits) * 10 ** numerator.scale;
  if (below === 0) return null;
  // Below 2^53 every step is exact in a number, and so is the floor of the quotient.
  if (2 * above + below <= Number.MAX_SAFE_INTEGER && 2 * below <= Number.MAX_SAFE_INTEGER) {
    return Math.floor((2 * above + below) / (2 * below));
  }
  const exactAbove =
    BigInt(numerator.digits) * BigInt(factor) * 10n ** BigInt(denominator.scale) * BigInt(SCALE);
  const exactBelow = BigInt(denominator.digits) * 10n ** BigInt(numerator.scale);
  return (2n * exactAbove + exactBelow) / (2n * exactBelow);
}

/** A rate of summed figures, 6 decimals, null where it cannot be divided. */
export function rateOf(rate: Rate, sums: Sums): number | null {
  const { numerator, denominator, factor } = RATES[rate];
  const below = sums[denominator] ?? 0;
  if (below === 0 || below === '0') return null;
  const result = millionths(decimal(sums[numerator] ?? 0), decimal(below), factor);
  if (result === null) return null;
  if (typeof result === 'number') return result / SCALE;
  const text = result.toString().padStart(RATE_DECIMALS + 1, '0');
  return Number(`${text.slice(0, -RATE_DECIMALS)}.${text.slice(-RATE_DECIMALS)}`);
}
