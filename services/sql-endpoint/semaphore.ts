import { FairQueue } from '../shared/fair-queue.js';
import { CODE, SqlError } from './errors.js';

export interface SemaphoreOptions {
  /** Statements that run at the same time. */
  permits: number;
  /** Milliseconds after which a permit is released, whatever its statement still does. */
  deadlineMs: number;
  /** The same while another organization waits. */
  shareMs?: number;
}

/** Statements that may wait for a permit; a dashboard sends one for each of its panels. */
const MAX_WAITING = { total: 100, perOrganization: 20 };
/** The queue of the password, which opens all organizations and stands for whoever operates the server. */
const OPERATOR = '';
const SHARE_MS = 5000;
/** Statements past their deadline that still run; each occupies a thread that the gateway's own statements need. */
const MAX_ABANDONED = 2;

interface Running {
  organization: string;
  /** Monotonic, in milliseconds. */
  startedAt: number;
  /** Answers the statement, and releases its permit. */
  end(afterMs: number): void;
}

/** A semaphore whose permits go to organizations in turn, with a bounded queue and deadlines. */
export class Semaphore {
  readonly #options: Required<SemaphoreOptions>;
  readonly #waiting = new FairQueue<() => void>();
  readonly #running = new Set<Running>();
  #busy = 0;
  #abandoned = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = { shareMs: SHARE_MS, ...options };
  }

  /**
   * Runs `work` with a permit; an organization of null stands for the password. Throws `SqlError` 202 when the queue is full, and 209 at the deadline, which also aborts the signal
   * passed to `work`. Aborting the caller's signal while waiting leaves the queue.
   */
  async run<T>(
    organizationId: string | null,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const organization = organizationId ?? OPERATOR;
    if (this.#busy >= this.#options.permits) await this.#wait(organization, signal);
    else this.#busy++;
    try {
      if (this.#abandoned >= MAX_ABANDONED) {
        throw new SqlError(CODE.socketTimeout, 'Statements that could not be ended are still running');
      }
      return await this.#withDeadline(organization, work, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy--;
    }
  }

  async #withDeadline<T>(
    organization: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { deadlineMs, shareMs } = this.#options;
    const overdue = new AbortController();
    let settled = false;
    const statement = work(AbortSignal.any([signal, overdue.signal])).finally(() => {
      settled = true;
    });
    const running: Running = { organization, startedAt: performance.now(), end: () => undefined };
    const ended = new Promise<never>((_, reject) => {
      running.end = (afterMs) => {
        reject(new SqlError(CODE.socketTimeout, `The statement did not end within ${afterMs / 1000} s`));
        overdue.abort();
      };
    });
    const timers = [
      setTimeout(() => running.end(deadlineMs), deadlineMs),
      setTimeout(() => this.#shareWith(running), shareMs + 1),
    ];
    this.#running.add(running);
    try {
      return await Promise.race([statement, ended]);
    } finally {
      this.#running.delete(running);
      for (const timer of timers) clearTimeout(timer);
      if (!settled) {
        this.#abandoned++;
        const end = () => void this.#abandoned--;
        statement.then(end, end);
      }
    }
  }

  /** Ends a statement that has had its share while another organization waits. */
  #shareWith({ organization, startedAt, end }: Running): void {
    const { shareMs } = this.#options;
    if (performance.now() - startedAt < shareMs) return;
    if (this.#waiting.size > this.#waiting.sizeOf(organization)) end(shareMs);
  }

  #wait(organization: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const own = organization === OPERATOR ? 0 : this.#waiting.sizeOf(organization);
    if (own >= MAX_WAITING.perOrganization || this.#waiting.size >= MAX_WAITING.total) {
      throw new SqlError(CODE.tooManySimultaneousQueries, 'Too many simultaneous queries');
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.remove(organization, enter);
        reject(signal.reason);
      };
      this.#waiting.push(organization, enter);
      signal.addEventListener('abort', leave, { once: true });
      for (const running of this.#running) this.#shareWith(running);
    });
  }
}
