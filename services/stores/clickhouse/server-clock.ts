/** Clocks drift apart by some parts in 100 000. */
const KEPT_MS = 600_000;

/** The clock of a server, which need not be that of this process. */
export class ServerClock {
  readonly #ask: () => Promise<number>;
  #ahead: Promise<number> | undefined;
  #askedAt = 0;

  /** `ask` resolves with the time there, in milliseconds since the epoch. */
  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  /** What the clock there shows at a moment of the clock here, or a little less: the time an answer takes. */
  async there(moment: number): Promise<number> {
    if (performance.now() - this.#askedAt > KEPT_MS) this.forget();
    if (!this.#ahead) {
      this.#askedAt = performance.now();
      this.#ahead = this.#ask().then((there) => there - Date.now());
      this.#ahead.catch(() => this.forget());
    }
    return Math.floor(moment + (await this.#ahead));
  }

  /** Asks again the next time. */
  forget(): void {
    this.#ahead = undefined;
  }
}
