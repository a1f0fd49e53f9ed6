import { sleep } from './async.js';
import type { DeletionGuard } from './clock-comparison.js';
import type { JobRuns } from './job-runs.js';

export interface PeriodicJobOptions {
  /** Name of the job in `runs`, such as `retention`. */
  name: string;
  /** Records the successes of the job. */
  runs?: JobRuns;
  /** Longest expected time between two successes; by default `intervalMs`. */
  dueMs?: number;
  /** Guard of a job that deletes by age: while the clock of this process is wrong, a run is skipped and counts as failed. */
  deletes?: DeletionGuard;
  /** Mean time from the end of a run to the next run. */
  intervalMs: number;
  /** Time until the first run; by default `intervalMs` with jitter. */
  firstRunMs?: number;
  /** Message of the log line about a failed run. */
  failure: string;
  /** Minimum time between two log lines about failures; by default, every failure is logged. */
  logIntervalMs?: number;
  log?: { warn(details: object, message: string): void };
  /** Details of the log line; by default, the error as `err`. */
  details?(error: unknown): object;
  sleep?: typeof sleep;
  /** Source of random numbers from 0 (inclusive) to 1 (exclusive). */
  random?(): number;
  /** Monotonic time in milliseconds. */
  now?(): number;
}

/**
 * Background work that repeats until stopped: one run at a time, with jitter between runs. A failed run is logged, and the next run
 * follows.
 */
export class PeriodicJob {
  readonly #work: (signal: AbortSignal) => Promise<unknown>;
  readonly #options: PeriodicJobOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  /** `work` may end early once its signal is aborted. */
  constructor(work: (signal: AbortSignal) => Promise<unknown>, options: PeriodicJobOptions) {
    this.#work = work;
    this.#options = options;
  }

  start(): this {
    const { name, runs, intervalMs, dueMs = intervalMs } = this.#options;
    if (!this.#running) runs?.started(name, dueMs);
    this.#running ??= this.#loop();
    return this;
  }

  /** Resolves once the current run has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #loop(): Promise<void> {
    const {
      name,
      runs,
      deletes,
      intervalMs,
      firstRunMs,
      failure,
      logIntervalMs = 0,
      log,
      details = (err) => ({ err }),
      sleep: wait = sleep,
      random = Math.random,
      now = () => performance.now(),
    } = this.#options;
    const { signal } = this.#stop;
    let logAgainAt = -Infinity;
    for (let waitMs = firstRunMs; ; waitMs = undefined) {
      await wait(waitMs ?? intervalMs * (0.75 + random() / 2), signal, { ref: false });
      if (signal.aborted) return;
      try {
        await deletes?.requireRightClock();
        await this.#work(signal);
        runs?.succeeded(name);
      } catch (error) {
        if (now() < logAgainAt) continue;
        logAgainAt = now() + logIntervalMs;
        log?.warn(details(error), failure);
      }
    }
  }
}
