/** Records are waiting but none was processed. Only a restart of the consumer helps. */
export class StalledError extends Error {
  override readonly name = 'StalledError';
}

const STALL_TIMEOUT_MS = 60_000;

/** Detects a stream that has stalled. */
export class Watchdog {
  readonly #now: () => number;
  #lastProgress: number;

  /** `now` is monotonic, in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#lastProgress = now();
  }

  /** Called when records were processed, or the reason for waiting is known. */
  progress(): void {
    this.#lastProgress = this.#now();
  }

  /** Returns an error once `lag` has been above 0 for a minute of checks without progress. */
  check(lag: bigint): StalledError | null {
    if (lag === 0n) this.progress();
    const idleMs = this.#now() - this.#lastProgress;
    if (idleMs < STALL_TIMEOUT_MS) return null;
    return new StalledError(
      `${lag} records are waiting and none was processed for ${Math.round(idleMs / 1000)} s`,
    );
  }
}
