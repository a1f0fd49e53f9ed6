import { CODE, SqlError } from './errors.js';

export interface SemaphoreOptions {
  /** Statements that run at the same time. */
  permits: number;
  /** Statements that may wait for a permit. */
  maxWaiting: number;
  /** Milliseconds after which a permit is released, whatever its statement still does. */
  deadlineMs: number;
}

/** Statements past their deadline that still run; each occupies a thread that the gateway's own statements need. */
const MAX_ABANDONED = 2;

/** A fair semaphore with a bounded queue and a deadline. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #abandoned = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` with a permit. Throws `SqlError` 202 when the queue is full, and 209 at the deadline, which also aborts the signal
   * passed to `work`. Aborting the caller's signal while waiting leaves the queue.
   */
  async run<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#busy >= this.#options.permits) await this.#wait(signal);
    else this.#busy++;
    try {
      if (this.#abandoned >= MAX_ABANDONED) {
        throw new SqlError(CODE.socketTimeout, 'Statements that could not be ended are still running');
      }
      return await this.#withDeadline(work, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy--;
    }
  }

  async #withDeadline<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { deadlineMs } = this.#options;
    const overdue = new AbortController();
    let settled = false;
    const running = work(AbortSignal.any([signal, overdue.signal])).finally(() => {
      settled = true;
    });
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const seconds = deadlineMs / 1000;
        reject(new SqlError(CODE.socketTimeout, `The statement did not end within ${seconds} s`));
        overdue.abort();
      }, deadlineMs);
    });
    try {
      return await Promise.race([running, deadline]);
    } finally {
      clearTimeout(timer);
      if (!settled) {
        this.#abandoned++;
        const ended = () => void this.#abandoned--;
        running.then(ended, ended);
      }
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.length >= this.#options.maxWaiting) {
      throw new SqlError(CODE.tooManySimultaneousQueries, 'Too many simultaneous queries');
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      this.#waiting.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
