/** Works on jobs step by step. Each step is a request to the writer, so that organizations take turns and other writes run in between. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../shared/time.js';
import type { Reader } from '../reader.js';
import type { Writer } from '../writes/record-messages.js';
import { countJobs, type JobKind, type JobProgress, type PendingJob, pendingJobs } from './job-table.js';

/** Pause after a failed step, such as on a full disk. */
const RETRY_MS = 1000;
const POLL_MS = 10;
/** Maximum number of jobs that `resume` works on at once. */
const MAX_RESUMED = 100;

export interface JobRunnerDeps {
  writer: Writer;
  reader: Reader;
  clock: Clock;
  /** Awaited before each step. If it throws, the step is retried after a pause. */
  beforeStep?(): Promise<void>;
}

export class JobRunner {
  readonly #deps: JobRunnerDeps;
  /** Ids of the jobs that this process works on. */
  readonly #running = new Set<string>();
  /** Aborted when the process closes, to end pauses. */
  readonly #closing = new AbortController();

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps;
  }

  /**
   * Works on a job that `note` records durably. Rejects if `note` rejects. `done` resolves with true once no work is left, and with false
   * if the process ends earlier; the next start then continues the job.
   */
  async begin<Kind extends JobKind>(
    job: PendingJob<Kind>,
    note: () => Promise<unknown>,
    onProgress: (progress: JobProgress[Kind]) => void,
  ): Promise<{ done: Promise<boolean> }> {
    this.#running.add(job.id);
    try {
      await note();
    } catch (error) {
      this.#running.delete(job.id);
      throw error;
    }
    return { done: this.#work(job, (progress) => onProgress(progress as JobProgress[Kind])) };
  }

  /** Continues the remaining jobs, whichever process began them. No caller waits for these jobs. Never throws. */
  resume(): void {
    const pending = this.#pending();
    const left = pending.filter(({ id }) => !this.#running.has(id));
    for (const job of left) {
      this.#running.add(job.id);
      void this.#work(job, () => {}).then(() => {
        // There may be more jobs than were read.
        if (pending.length === MAX_RESUMED) this.resume();
      });
    }
  }

  /** Resolves once the organization has at most `max` remaining jobs of a kind, or when the process ends. */
  async untilFew(organizationId: string, kind: JobKind, max: number): Promise<void> {
    const { signal } = this.#closing;
    const left = () =>
      this.#deps.reader.read((connection) => countJobs(connection, organizationId, kind, max + 1));
    while (!signal.aborted && left() > max) await pause(POLL_MS, signal);
  }

  close(): void {
    this.#closing.abort();
  }

  #pending(): PendingJob[] {
    if (this.#closing.signal.aborted) return [];
    try {
      return this.#deps.reader.read((connection) => pendingJobs(connection, MAX_RESUMED));
    } catch {
      // This error is dropped, because the next read reports it.
      return [];
    }
  }

  /** Never rejects. */
  async #work(
    { id, organizationId }: PendingJob,
    onProgress: (progress: JobProgress[JobKind]) => void,
  ): Promise<boolean> {
    const { writer, clock, beforeStep } = this.#deps;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await beforeStep?.();
        const step = await writer.callFor(organizationId, 'stepJob', id, clock.now());
        if (step) onProgress(step.progress);
        if (step?.isLeft) continue;
        this.#running.delete(id);
        return true;
      } catch {
        // This error is dropped, because the next write reports it.
        await pause(RETRY_MS, signal);
      }
    }
    return false;
  }
}

/** Ends early if the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
