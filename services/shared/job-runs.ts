/** Records when the background jobs of a process last succeeded, so that an alert can tell when one stops. */
import type { Clock } from './time.js';
import { systemClock } from './time.js';

export interface JobRun {
  /** Longest expected time from one success to the next, in milliseconds. */
  intervalMs: number;
  /** Milliseconds since the epoch; the start of the job before its first success. */
  succeededAt: number;
}

export class JobRuns {
  readonly #runs = new Map<string, JobRun>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'> = systemClock) {
    this.#clock = clock;
  }

  /** Adds a job, which counts as successful until it is late. */
  started(name: string, intervalMs: number): void {
    this.#runs.set(name, { intervalMs, succeededAt: this.#clock.now() });
  }

  succeeded(name: string): void {
    const run = this.#runs.get(name);
    if (run) run.succeededAt = this.#clock.now();
  }

  /** Jobs by name. */
  all(): Iterable<[name: string, run: Readonly<JobRun>]> {
    return this.#runs;
  }
}
