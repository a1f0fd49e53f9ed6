/** Metrics of background work, which gateways and workers export alike. The names are contract. */
import { Gauge, type Registry } from 'prom-client';
import type { ClockComparison } from './clock-comparison.js';
import type { JobRuns } from './job-runs.js';

export interface BackgroundSources {
  jobs: JobRuns;
  /** The copy of contacts and audiences for SQL; null where SQL reads them directly. */
  copier: { beganAt(): Promise<number | null> } | null;
  /** Time of the last backup in milliseconds since the epoch, null before the first; null where no store lies in the data folder. */
  lastBackup: (() => number | null) | null;
  /** Null where a caller gave the clock. */
  clocks: Pick<ClockComparison, 'skews'> | null;
}

/** Registers the metrics that `sources` has values for. */
export function registerBackgroundMetrics(
  registry: Registry,
  { jobs, copier, lastBackup, clocks }: BackgroundSources,
): void {
  const registers = [registry];
  // Not `job`: Prometheus gives every series a label of that name.
  const labelNames = ['background_job'];
  new Gauge({
    name: 'reachline_job_interval_seconds',
    help: 'Longest expected time from one success of a background job to the next.',
    labelNames,
    registers,
    collect() {
      for (const [background_job, { intervalMs }] of jobs.all())
        this.set({ background_job }, intervalMs / 1000);
    },
  });
  new Gauge({
    name: 'reachline_job_last_success_seconds',
    help: 'Unix time of the last success of a background job, or of its start before the first.',
    labelNames,
    registers,
    collect() {
      for (const [background_job, { succeededAt }] of jobs.all())
        this.set({ background_job }, succeededAt / 1000);
    },
  });
  if (clocks) registerClockSkew(registry, clocks);
  if (copier) registerCopyLag(registry, copier);
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

function registerCopyLag(registry: Registry, copier: NonNullable<BackgroundSources['copier']>): void {
  let beganAt = Date.now();
  new Gauge({
    name: 'reachline_copy_lag_seconds',
    help: 'Time since the copy of contacts and audiences in ClickHouse was begun, or since the start of the process before the first.',
    registers: [registry],
    async collect() {
      // The lag grows while ClickHouse does not answer.
      beganAt = (await copier.beganAt().catch(() => null)) ?? beganAt;
      this.set((Date.now() - beganAt) / 1000);
    },
  });
}

function registerClockSkew(registry: Registry, clocks: NonNullable<BackgroundSources['clocks']>): void {
  new Gauge({
    name: 'reachline_clock_skew_seconds',
    help: 'Seconds by which the clock of this process is ahead of that of a store; data_folder: ahead of the time that the folder noted, 0 within 30 days of it. Beyond 30 s, the process deletes nothing by age.',
    labelNames: ['store'],
    registers: [registry],
    collect() {
      for (const [store, skewMs] of clocks.skews()) this.set({ store }, skewMs / 1000);
    },
  });
}
