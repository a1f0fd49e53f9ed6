/** Something is to be done and nothing is done: a state the program cannot get out of by itself. */
export class Stuck extends Error {
  override readonly name = 'Stuck';
}

const PATIENCE_MS = 60_000;

/** Watches one stream. */
export class Watchdog {
  readonly #now: () => number;
  #lastProgress: number;

  /** `now` in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#lastProgress = now();
  }

  /** Something was applied, or it is known what is waited for. */
  progress(): void {
    this.#lastProgress = this.#now();
  }

  /** What is wrong when nothing was taken for a minute though records were there, each time it was asked. */
  check(behind: bigint): Stuck | null {
    if (behind === 0n) this.progress();
    const idle = this.#now() - this.#lastProgress;
    if (idle < PATIENCE_MS) return null;
    return new Stuck(`${behind} records are behind and none was taken for ${Math.round(idle / 1000)} s`);
  }
}
