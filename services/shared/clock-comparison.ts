/**
 * Compares the clock of this process with the clocks of the servers, or without servers, with the last time recorded in the data folder. So
 * a process with a wrong clock deletes nothing that is still needed.
 */
import { withTimeout } from './async.js';
import { BELIEVED_AFTER_MS, ClockMemory, type TimeNote } from './clock-memory.js';
import type { StoreName } from './store-errors.js';
import { type Clock, DAY_MS, systemClock } from './time.js';

/** A process whose clock differs by more than this deletes nothing. */
export const MAX_SKEW_MS = 30_000;
/** Milliseconds for which a comparison is valid, unless the clock of this process jumps. */
const VALID_MS = 60_000;
/** Milliseconds by which system clock and monotonic clock must differ for the system clock to count as changed. */
const JUMP_MS = 1000;
const TIMEOUT_MS = 5000;

/** The clock of this process is wrong, or could not be compared. The message is for operators. */
export class ClockSkewError extends Error {
  override readonly name = 'ClockSkewError';
}

/** Checked before each run of a job that deletes. */
export interface DeletionGuard {
  /** Throws `ClockSkewError` if the clock of this process is wrong or could not be compared. */
  requireRightClock(): Promise<void>;
}

/** The store, or the time recorded in the data folder, with which a process compares its clock. */
export type ClockSource = StoreName | 'data_folder';

interface Comparison {
  /** Milliseconds by which this process is ahead of the server. */
  skewMs: number;
  monotonicMs: number;
  wallMs: number;
}

export class ClockComparison implements DeletionGuard {
  readonly #servers = new Map<StoreName, () => Promise<number>>();
  readonly #found = new Map<StoreName, Comparison>();
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  #memory: ClockMemory | undefined;
  #running: Promise<void> | undefined;

  constructor(clock: Clock = systemClock, monotonic: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#monotonic = monotonic;
  }

  /** `readTime` resolves with the time of the server, in milliseconds since the epoch. */
  add(store: StoreName, readTime: () => Promise<number>): void {
    this.#servers.set(store, readTime);
  }

  /** Compares the clock with the last recorded time, as long as no server is added. */
  remember(note: TimeNote): void {
    this.#memory = new ClockMemory(note, this.#clock, this.#monotonic);
  }

  /** Repeats comparisons older than a minute, or from before the clock changed. A server that does not respond keeps its last result. */
  compare(): Promise<void> {
    if (this.#servers.size === 0) this.#memory?.check();
    this.#running ??= Promise.all([...this.#servers].map((server) => this.#compareWith(...server)))
      .then(() => undefined)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #compareWith(store: StoreName, readTime: () => Promise<number>): Promise<void> {
    const before = this.#found.get(store);
    if (before && !this.#isOutdated(before)) return;
    try {
      const skewMs = await skewOf(() => withTimeout(TIMEOUT_MS, readTime), this.#clock, this.#monotonic);
      this.#found.set(store, { skewMs, monotonicMs: this.#monotonic(), wallMs: this.#clock.now() });
    } catch {
      if (before && Math.abs(this.#movedBy(before)) > JUMP_MS) this.#found.delete(store);
    }
  }

  #isOutdated(comparison: Comparison): boolean {
    const age = this.#monotonic() - comparison.monotonicMs;
    return age > VALID_MS || Math.abs(this.#movedBy(comparison)) > JUMP_MS;
  }

  #movedBy({ monotonicMs, wallMs }: Comparison): number {
    return this.#clock.now() - wallMs - (this.#monotonic() - monotonicMs);
  }

  /** Milliseconds by which this process is ahead, by each store that has responded. */
  skews(): ReadonlyMap<ClockSource, number> {
    if (this.#memory && this.#servers.size === 0) return new Map([['data_folder', this.#memory.leapMs()]]);
    return new Map([...this.#found].map(([store, { skewMs }]) => [store, skewMs]));
  }

  /** A sentence per server whose clock differs too much. */
  problems(): string[] {
    return [...this.skews()].flatMap(([source, skewMs]) => {
      if (Math.abs(skewMs) <= MAX_SKEW_MS) return [];
      return source === 'data_folder'
        ? describeLeap(skewMs, this.#memory?.noted)
        : describeSkew(source, skewMs);
    });
  }

  async requireRightClock(): Promise<void> {
    await this.compare();
    const [problem] = this.problems();
    if (problem !== undefined) throw new ClockSkewError(problem);
    for (const store of this.#servers.keys()) {
      if (!this.#found.has(store))
        throw new ClockSkewError(`The clock of the ${store} store could not be read; nothing is deleted`);
    }
  }

  /**
   * A corrected clock for deciding what is old enough to be replaced. If the clock of this process is wrong, the corrected clock follows
   * the clock of the first server, or the recorded time plus the time that passed since it was recorded.
   */
  readonly corrected: Clock = {
    now: () => {
      const [skewMs = 0] = this.skews().values();
      return this.#clock.now() - (Math.abs(skewMs) > MAX_SKEW_MS ? skewMs : 0);
    },
  };
}

/** Milliseconds by which a clock is ahead of the clock of a server. */
export async function skewOf(
  readTime: () => Promise<number>,
  clock: Clock = systemClock,
  monotonic: () => number = () => performance.now(),
): Promise<number> {
  const begun = monotonic();
  const serverMs = await readTime();
  // The server read its clock between request and response.
  return Math.round(clock.now() - (monotonic() - begun) / 2 - serverMs);
}

/** Describes the difference to a server, for operators. */
export function describeSkew(store: StoreName, skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this process is ${seconds} s ${side} the ${store} store, so it deletes nothing; synchronize the clocks (NTP)`;
}

/** Describes a jump of the clock, for operators. */
function describeLeap(leapMs: number, notedMs: number | null | undefined): string {
  const days = Math.round(leapMs / DAY_MS);
  const noted = new Date(notedMs ?? 0).toISOString();
  return `The clock of this process is ${days} days ahead of ${noted}, when the data folder was last open, so nothing is deleted by age before the process has run for ${BELIEVED_AFTER_MS / HOUR_MS} h. If the clock is right, reachline doctor --accept-clock says so at once; else set it`;
}
const HOUR_MS = 3_600_000;
