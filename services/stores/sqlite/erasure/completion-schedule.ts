import { StoreUnavailableError } from '../../../shared/store-errors.js';
import { type Clock, systemClock } from '../../../shared/time.js';

const RETRY_MS = 60_000;
/** A completion that holds writes up for longer than a transaction may is followed by a pause. */
const LONG_COMPLETION_MS = 300;
/** That pause as a multiple of the completion: erasures take at most a tenth of the time from writes. */
const PAUSE_FACTOR = 9;

/** When erasures complete: writes wait for it, as long as writing the whole database takes. */
export class CompletionSchedule {
  readonly #complete: () => Promise<unknown>;
  readonly #clock: Clock;
  readonly #longMs: number;
  #timer: NodeJS.Timeout | undefined;
  #pauseEndMs = 0;
  #closed = false;

  constructor(complete: () => Promise<unknown>, clock: Clock = systemClock, longMs = LONG_COMPLETION_MS) {
    this.#complete = complete;
    this.#clock = clock;
    this.#longMs = longMs;
  }

  /**
   * Completes all pending erasures: at once, else at the end of the pause, and a minute later where a reader, such as a backup, keeps
   * the write-ahead log from being truncated.
   */
  async run(): Promise<void> {
    clearTimeout(this.#timer);
    const startMs = this.#clock.now();
    if (startMs < this.#pauseEndMs) {
      this.#runIn(this.#pauseEndMs - startMs);
      return;
    }
    try {
      await this.#complete();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      this.#runIn(RETRY_MS);
    } finally {
      const endMs = this.#clock.now();
      const tookMs = endMs - startMs;
      if (tookMs > this.#longMs) this.#pauseEndMs = endMs + tookMs * PAUSE_FACTOR;
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #runIn(milliseconds: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.run().catch(() => undefined), milliseconds).unref();
  }
}
