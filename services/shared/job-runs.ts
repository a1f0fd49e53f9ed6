/** Records when the background jobs of a process last succeeded, so that an alert can tell when a job stops. */
import type { Clock } from './time.js';
import { systemClock } from './time.js';

export interface JobRun {
  /** Longest expected time between two successes, in milliseconds. */
  intervalMs: number;
  /** Time of the last success, in milliseconds since the epoch; before the first success, the start of the job. */
  succeededAt: number;
}

export class JobRuns {
  readonly #runs = new Map<string, JobRun>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'> = systemClock) {
    this.#clock = clock;
  }

  /** Adds a job, which counts as successful until its first success is overdue. */
  started(name: string, intervalMs: number): void {
    this.#runs.set(name, { intervalMs, succeededAt: this.#clock.now() });
  }

  succeeded(name: string): void {
    const run = this.#runs.get(name);
    if (run) run.succeededAt = this.#clock.now();
  }

  /** All jobs by name. */
  all(): Iterable<[name: string, run: Readonly<JobRun>]> {
    return this.#runs;
  }
}
