/** Paired measurement: two sides in turn, so that a machine that slows down slows both. */

export interface Comparison {
  name: string;
  unit: string;
  /** Medians of both sides. */
  ours: number;
  base: number;
  /** Median of the ratios of neighbouring rounds, ours ÷ base. */
  ratio: number;
  rounds: number;
  /** What the figure should be, such as `≥ 0.80`, and whether it is. */
  target: string;
  met: boolean;
}

/** A figure without a base to compare with. */
export interface Figure {
  name: string;
  unit: string;
  value: number;
  target: string;
  met: boolean;
}

export interface Bound {
  atLeast?: number;
  atMost?: number;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** Nearest-rank percentile. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** Runs both sides in turn `rounds` times after one round that does not count. */
export async function pairedRounds<T>(
  rounds: number,
  ours: () => Promise<T>,
  base: () => Promise<T>,
): Promise<{ ours: T; base: T }[]> {
  await base();
  await ours();
  const results: { ours: T; base: T }[] = [];
  for (let round = 0; round < rounds; round++) {
    // Whoever goes first meets the colder caches, so the sides take turns at it.
    if (round % 2 === 0) {
      const first = await base();
      results.push({ base: first, ours: await ours() });
    } else {
      const first = await ours();
      results.push({ ours: first, base: await base() });
    }
  }
  return results;
}

export function comparison(
  name: string,
  unit: string,
  bound: Bound,
  results: readonly { ours: number; base: number }[],
): Comparison {
  const ratio = median(results.map((result) => result.ours / result.base));
  return {
    name,
    unit,
    ours: median(results.map((result) => result.ours)),
    base: median(results.map((result) => result.base)),
    ratio,
    rounds: results.length,
    ...judge(ratio, bound),
  };
}

export async function compare(
  name: string,
  unit: string,
  bound: Bound,
  rounds: number,
  ours: () => Promise<number>,
  base: () => Promise<number>,
): Promise<Comparison> {
  return comparison(name, unit, bound, await pairedRounds(rounds, ours, base));
}

export function figure(name: string, unit: string, value: number, bound: Bound): Figure {
  return { name, unit, value, ...judge(value, bound) };
}

function judge(value: number, { atLeast, atMost }: Bound): { target: string; met: boolean } {
  if (atLeast !== undefined) return { target: `≥ ${atLeast}`, met: value >= atLeast };
  if (atMost !== undefined) return { target: `≤ ${atMost}`, met: value <= atMost };
  return { target: 'reported', met: true };
}
