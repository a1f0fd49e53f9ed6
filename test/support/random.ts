import { Random as SharedRandom } from '../../services/demo/random.js';

/** Seed of everything that tests draw. Fixed, so that a change is judged by the same draws; the nightly suites set another. */
export const SEED = Number(process.env.TEST_SEED ?? 1);

/** The number of draws, rounds or records of a test: as given, and a multiple of it in the nightly suites. */
export const runs = (number: number) => number * Number(process.env.TEST_RUNS_FACTOR ?? 1);

/** The shared random source, with the draws that generated records need. */
export class Random extends SharedRandom {
  constructor(seed: number) {
    super(String(seed));
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return this.between(0, limit - 1);
  }

  some<T>(values: readonly T[], most: number): T[] {
    return Array.from({ length: 1 + this.below(most) }, () => this.pick(values));
  }

  maybe<T>(probability: number, value: () => T): T | undefined {
    return this.chance(probability) ? value() : undefined;
  }
}
