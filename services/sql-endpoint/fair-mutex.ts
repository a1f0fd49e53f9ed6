import { withTimeout } from '../shared/async.js';
import { FairSemaphore } from '../shared/fair-semaphore.js';
import { CODE, SqlError } from './errors.js';

/** Told whenever a statement begins or ends to run past its deadline: how many do. The organization is empty for the password. */
export type OnAbandoned = (abandoned: number, organizationId: string) => void;

export interface FairMutexOptions {
  /** Milliseconds after which the next statement runs, whatever the one before still does. */
  deadlineMs: number;
  /** The same while another organization waits. */
  shareMs?: number;
  onAbandoned?: OnAbandoned;
}

/** Statements that may wait; a dashboard sends one for each of its panels. */
const MAX_WAITING = { total: 100, perOrganization: 20 };
/** The queue of the password, which opens all organizations and stands for whoever operates the server. */
const OPERATOR = '';
const SHARE_MS = 5000;
/**
 * Statements past their deadline that still run; each occupies a thread that the gateway's own statements need. One organization alone
 * never reaches what is refused to all.
 */
const MAX_ABANDONED = { total: 2, perOrganization: 1 };
/** After its deadline the engine is told to end a statement, which it does within this time if it can. */
const END_MS = 1000;

interface Running {
  organization: string;
  /** Monotonic, in milliseconds. */
  startedAt: number;
  /** Answers the statement, and lets the next one run. */
  end(afterMs: number): void;
}

/** A mutex that goes to organizations in turn, with a bounded queue and a deadline. */
export class FairMutex {
  readonly #deadlineMs: number;
  readonly #shareMs: number;
  readonly #lock = new FairSemaphore(1);
  #running: Running | undefined;
  readonly #onAbandoned: FairMutexOptions['onAbandoned'];
  /** The organization of each statement that runs past its deadline. */
  readonly #abandoned: string[] = [];

  constructor({ deadlineMs, shareMs = SHARE_MS, onAbandoned }: FairMutexOptions) {
    this.#deadlineMs = deadlineMs;
    this.#onAbandoned = onAbandoned;
    this.#shareMs = shareMs;
  }

  /**
   * Runs `work` alone; an organization of null stands for the password. Throws `SqlError` 202 when the queue is full, and 209 at the
   * deadline, which also aborts the signal passed to `work`. Aborting the caller's signal while waiting leaves the queue.
   */
  async runExclusive<T>(
    organizationId: string | null,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const organization = organizationId ?? OPERATOR;
    this.#requireRoom(organization);
    const run = async () => {
      this.#requireThread(organization);
      return await this.#withDeadline(organization, work, signal);
    };
    const running = this.#lock.run(organization, run, signal);
    if (this.#running) this.#shareWithOthers(this.#running);
    return running;
  }

  #requireRoom(organization: string): void {
    const { waiting } = this.#lock;
    const own = organization === OPERATOR ? 0 : waiting.sizeOf(organization);
    if (own < MAX_WAITING.perOrganization && waiting.size < MAX_WAITING.total) return;
    throw new SqlError(CODE.TOO_MANY_SIMULTANEOUS_QUERIES, 'Too many simultaneous queries');
  }

  #requireThread(organization: string): void {
    const own =
      organization === OPERATOR ? 0 : this.#abandoned.filter((each) => each === organization).length;
    if (own < MAX_ABANDONED.perOrganization && this.#abandoned.length < MAX_ABANDONED.total) return;
    throw new SqlError(CODE.SOCKET_TIMEOUT, 'Statements that could not be ended are still running');
  }

  #abandon(organization: string, statement: Promise<unknown>): void {
    this.#abandoned.push(organization);
    this.#onAbandoned?.(this.#abandoned.length, organization);
    const leave = () => {
      this.#abandoned.splice(this.#abandoned.indexOf(organization), 1);
      this.#onAbandoned?.(this.#abandoned.length, organization);
    };
    statement.then(leave, leave);
  }

  async #withDeadline<T>(
    organization: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const overdue = new AbortController();
    const ended = new Promise<never>((_, reject) => {
      overdue.signal.addEventListener('abort', () => reject(overdue.signal.reason));
    });
    const end = (afterMs: number) =>
      overdue.abort(
        new SqlError(CODE.SOCKET_TIMEOUT, `The statement did not end within ${afterMs / 1000} s`),
      );
    const running = { organization, startedAt: performance.now(), end };
    this.#running = running;
    let settled = false;
    const statement = work(AbortSignal.any([signal, overdue.signal])).finally(() => {
      settled = true;
    });
    const timers = [
      setTimeout(end, this.#deadlineMs, this.#deadlineMs),
      setTimeout(() => this.#shareWithOthers(running), this.#shareMs + 1),
    ];
    try {
      return await Promise.race([statement, ended]);
    } finally {
      this.#running = undefined;
      for (const timer of timers) clearTimeout(timer);
      if (!settled) await withTimeout(END_MS, () => statement).catch(() => undefined);
      if (!settled) this.#abandon(organization, statement);
    }
  }

  /** Ends a statement that has had its share while another organization waits. */
  #shareWithOthers({ organization, startedAt, end }: Running): void {
    if (performance.now() - startedAt < this.#shareMs) return;
    const { waiting } = this.#lock;
    if (waiting.size > waiting.sizeOf(organization)) end(this.#shareMs);
  }
}
