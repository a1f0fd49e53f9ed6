/** Something is to be done and nothing is done: a state the program cannot get out of by itself. */
export class Stuck extends Error {
  override readonly name = 'Stuck';
}

const CHECK_MS = 10_000;
const PATIENCE_MS = 60_000;

/** Watches one stream. */
export class Watchdog {
  /** Resolves when nothing was taken for a minute though something was there. */
  readonly stuck: Promise<Stuck>;
  #timer: NodeJS.Timeout | undefined;
  #lastProgress = performance.now();

  /** `lag` tells the records behind, and rejects while that cannot be told. */
  constructor(lag: () => Promise<bigint>) {
    this.stuck = new Promise((resolve) => {
      this.#timer = setInterval(async () => {
        const behind = await lag().catch(() => 0n);
        if (behind === 0n) this.progress();
        const idle = performance.now() - this.#lastProgress;
        if (idle < PATIENCE_MS) return;
        this.stop();
        resolve(
          new Stuck(`${behind} records are behind and none was taken for ${Math.round(idle / 1000)} s`),
        );
      }, CHECK_MS);
      this.#timer.unref();
    });
  }

  /** Something was applied, or it is known what is waited for. */
  progress(): void {
    this.#lastProgress = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
