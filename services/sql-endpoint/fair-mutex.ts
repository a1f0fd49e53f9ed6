import { FairSemaphore } from '../shared/fair-semaphore.js';
import { EngineEndedError } from '../stores/clickhouse/errors.js';
import { CODE, SqlError } from './errors.js';

/** Called with the organization whose statement ended the engine, because the statement could not be ended. */
export type OnEndless = (organizationId: string) => void;

export interface FairMutexOptions {
  /** Milliseconds after which a statement is ended. */
  deadlineMs: number;
  /** Milliseconds after which a statement is ended if another organization waits. */
  shareMs?: number;
  /** Milliseconds for which an organization is rejected after the engine ended during its statement. */
  refuseMs?: number;
  onEndless?: OnEndless;
}

/** Maximum number of waiting statements. A dashboard sends one for each of its panels. */
const MAX_WAITING = { total: 200, perOrganization: 60 };
const SHARE_MS = 5000;
/**
 * Milliseconds for which an organization is rejected after such a statement, because the restart of the engine affects all other
 * organizations.
 */
const REFUSE_MS = 60_000;

interface Running {
  organization: string;
  /** Start of the statement, in milliseconds of a monotonic clock. */
  startedAt: number;
  /** Responds to the caller of the statement, and lets the next statement run. */
  end(afterMs: number): void;
}

/** A mutex that serves organizations in turn, with a bounded queue and a deadline. */
export class FairMutex {
  readonly #deadlineMs: number;
  readonly #shareMs: number;
  readonly #lock = new FairSemaphore(1);
  #running: Running | undefined;
  readonly #refuseMs: number;
  readonly #onEndless: FairMutexOptions['onEndless'];
  /** Time until which an organization is rejected. */
  readonly #refused = new Map<string, number>();

  constructor({ deadlineMs, shareMs = SHARE_MS, refuseMs = REFUSE_MS, onEndless }: FairMutexOptions) {
    this.#deadlineMs = deadlineMs;
    this.#refuseMs = refuseMs;
    this.#onEndless = onEndless;
    this.#shareMs = shareMs;
  }

  /**
   * Runs `work` alone. A caller whose signal aborts while it waits leaves the queue. Throws `SqlError` 202 if the queue is full, 439 for an
   * organization during whose statement the engine ended, and 209 at the deadline, which also aborts the signal passed to `work`.
   */
  async runExclusive<T>(
    organization: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    this.#requireRoom(organization);
    const run = async () => {
      this.#requireAllowed(organization);
      return await this.#withDeadline(organization, work, signal);
    };
    const running = this.#lock.run(organization, run, signal);
    if (this.#running) this.#shareWithOthers(this.#running);
    return running;
  }

  #requireRoom(organization: string): void {
    const { waiting } = this.#lock;
    if (waiting.sizeOf(organization) < MAX_WAITING.perOrganization && waiting.size < MAX_WAITING.total)
      return;
    throw new SqlError(CODE.TOO_MANY_SIMULTANEOUS_QUERIES, 'Too many simultaneous queries');
  }

  #requireAllowed(organization: string): void {
    const until = this.#refused.get(organization);
    if (until === undefined) return;
    if (performance.now() < until) {
      const detail = 'A statement of this organization could not be ended; try again in a minute';
      throw new SqlError(CODE.CANNOT_SCHEDULE_TASK, detail);
    }
    this.#refused.delete(organization);
  }

  /** Rejects an organization for a while. */
  #refuse(organization: string): void {
    this.#refused.set(organization, performance.now() + this.#refuseMs);
    this.#onEndless?.(organization);
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
    const statement = work(AbortSignal.any([signal, overdue.signal]));
    const timers = [
      setTimeout(end, this.#deadlineMs, this.#deadlineMs),
      setTimeout(() => this.#shareWithOthers(running), this.#shareMs + 1),
    ];
    try {
      return await Promise.race([statement, ended]);
    } finally {
      this.#running = undefined;
      for (const timer of timers) clearTimeout(timer);
      // Takes a few seconds at most, because the engine is killed if it does not end the statement.
      await statement.catch((error: unknown) => {
        if (error instanceof EngineEndedError) this.#refuse(organization);
      });
    }
  }

  /** Ends a statement that has used its share while another organization waits. */
  #shareWithOthers({ organization, startedAt, end }: Running): void {
    if (performance.now() - startedAt < this.#shareMs) return;
    const { waiting } = this.#lock;
    if (waiting.size > waiting.sizeOf(organization)) end(this.#shareMs);
  }
}
