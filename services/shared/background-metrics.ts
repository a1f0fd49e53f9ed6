/** Metrics of background jobs, exported by gateways and workers. The names are contract. */
import { Gauge, type Registry } from 'prom-client';
import type { ClockComparison } from './clock-comparison.js';
import type { JobRuns } from './job-runs.js';

export interface BackgroundSources {
  jobs: JobRuns;
  /** Tells up to which time SQL shows contacts and audiences; null in a process without stores. */
  follower: { followedAt(): Promise<number | null> } | null;
  /**
   * Returns the time of the last backup in milliseconds since the epoch, or null before the first backup. The function itself is null if
   * the data folder holds no store.
   */
  lastBackup: (() => number | null) | null;
  /** Clock comparison; null if a caller, such as a test, supplies the clock. */
  clocks: Pick<ClockComparison, 'skews'> | null;
}

/** Registers the metrics for which `sources` has values. */
export function registerBackgroundMetrics(
  registry: Registry,
  { jobs, follower, lastBackup, clocks }: BackgroundSources,
): void {
  const registers = [registry];
  // The label is not named `job`, because Prometheus gives every series a label of that name.
  const labelNames = ['background_job'];
  new Gauge({
    name: 'reachline_job_interval_seconds',
    help: 'Longest expected time between two successful runs of a background job.',
    labelNames,
    registers,
    collect() {
      for (const [background_job, { intervalMs }] of jobs.all())
        this.set({ background_job }, intervalMs / 1000);
    },
  });
  new Gauge({
    name: 'reachline_job_last_success_seconds',
    help: 'Unix time of the last successful run of a background job; before the first, the time when the job was started.',
    labelNames,
    registers,
    collect() {
      for (const [background_job, { succeededAt }] of jobs.all())
        this.set({ background_job }, succeededAt / 1000);
    },
  });
  if (clocks) registerClockSkew(registry, clocks);
  if (follower) registerCopyLag(registry, follower);
  if (lastBackup) {
    new Gauge({
      name: 'reachline_last_backup_seconds',
      help: 'Unix time of the last backup of the data folder; 0 before the first.',
      registers,
      collect() {
        this.set((lastBackup() ?? 0) / 1000);
      },
    });
  }
}

function registerCopyLag(registry: Registry, follower: NonNullable<BackgroundSources['follower']>): void {
  let followedAt = Date.now();
  new Gauge({
    name: 'reachline_copy_lag_seconds',
    help: 'Age of the contacts and audiences that SQL shows; before the first copy, time since the process started.',
    registers: [registry],
    async collect() {
      // If ClickHouse does not respond, the last known time stays, so the lag grows.
      followedAt = (await follower.followedAt().catch(() => null)) ?? followedAt;
      this.set((Date.now() - followedAt) / 1000);
    },
  });
}

function registerClockSkew(registry: Registry, clocks: NonNullable<BackgroundSources['clocks']>): void {
  new Gauge({
    name: 'reachline_clock_skew_seconds',
    help: 'Seconds by which the clock of this process is ahead of the clock of a store. For data_folder: ahead of the time last noted in the folder, or 0 within 30 days of it. Beyond 30 s, the process deletes nothing by age.',
    labelNames: ['store'],
    registers: [registry],
    collect() {
      for (const [store, skewMs] of clocks.skews()) this.set({ store }, skewMs / 1000);
    },
  });
}
