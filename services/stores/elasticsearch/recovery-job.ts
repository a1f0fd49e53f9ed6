/** Cleans up after processes that died. Every process runs this job; concurrent runs are safe. */

import type { DeletionGuard } from '../../shared/clock-comparison.js';
import type { JobRuns } from '../../shared/job-runs.js';
import { PeriodicJob } from '../../shared/periodic-job.js';
import type { Clock } from '../../shared/time.js';
import type { RecoveryStatus } from '../common/record-store.js';
import type { StoreLog } from '../common/store-log.js';
import type { Cluster } from './client.js';
import { resolveReservation } from './contacts/creations.js';
import type { WriteStores } from './contacts/documents.js';
import type { CreditAccounts } from './credits.js';
import type { ErasureCompletion } from './erasure/complete.js';
import type { IdempotencyKeys } from './idempotency.js';
import type { JobRunner } from './jobs/job-runner.js';
import type { IndexNames } from './migrations/indices.js';
import { acquireReindexLock, recoverReindex } from './migrations/reindex-lock.js';

/** Age at which a reservation is resolved. Creations rarely take this long, and credits of failed creations are returned soon. */
const OVERDUE_MS = 60_000;
/**
 * Interval of the recovery job. Shorter than writers wait: a reindex that died blocks writes until its lease has expired and this job has
 * run.
 */
const INTERVAL_MS = 5000;
/** Minimum time between two log lines about failures of a step. */
const LOG_INTERVAL_MS = 60_000;

/** After this many failures in a row, further reservations are only counted, because resolving them would probably fail too, slowly. */
const MAX_FAILURES = 20;

export interface RecoveryDeps {
  cluster: Cluster;
  names: IndexNames;
  creditAccounts: CreditAccounts;
  idempotencyKeys: IdempotencyKeys;
  contacts: WriteStores['contacts'];
  suppression: WriteStores['suppression'];
  erasures: Pick<ErasureCompletion, 'complete'>;
  jobRunner: Pick<JobRunner, 'resume'>;
  clock: Clock;
  /** Pauses deletions by age while the clock of this process is wrong. */
  clocks?: DeletionGuard;
  log?: StoreLog;
  jobs?: JobRuns;
}

/** Error that names the first reservation that a run could not resolve. */
class UnresolvedError extends Error {
  override readonly name = 'UnresolvedError';
  readonly reservation: object;

  constructor(reservation: object, cause: unknown) {
    super('a reservation could not be resolved', { cause });
    this.reservation = reservation;
  }
}

/** Runs each step every few seconds until stopped. Failures are counted, logged and retried by the next run. */
export function startRecovery(
  deps: RecoveryDeps,
  intervalMs = INTERVAL_MS,
): Pick<PeriodicJob, 'stop'> & { readonly status: Readonly<RecoveryStatus> } {
  const { cluster, names, erasures, jobRunner, clock, log, jobs: runs } = deps;
  const status: RecoveryStatus = { overdueReservations: 0, failures: 0 };
  const steps: [
    name: string,
    step: string,
    work: (signal: AbortSignal) => Promise<void>,
    deletes?: DeletionGuard,
  ][] = [
    ['reindex_recovery', 'roll back a reindex', () => recoverReindex(cluster, names, clock), deps.clocks],
    ['reservations', 'resolve a reservation', (signal) => resolveReservations(deps, status, signal)],
    [
      'idempotency_keys',
      'delete expired idempotency keys',
      (signal) => deleteExpiredKeys(deps, signal),
      deps.clocks,
    ],
    ['erasures', 'complete erasures', () => erasures.complete()],
    ['long_work', 'go on with long work', (signal) => jobRunner.resume(signal)],
  ];
  const jobs = steps.map(([name, step, work, deletes]) => {
    const counted = async (signal: AbortSignal) => {
      try {
        await work(signal);
      } catch (error) {
        status.failures++;
        throw error;
      }
    };
    return new PeriodicJob(counted, {
      name,
      runs,
      deletes,
      intervalMs,
      failure: 'recovery failed and is tried again',
      logIntervalMs: LOG_INTERVAL_MS,
      log,
      details: (err) => ({ step, err, ...(err instanceof UnresolvedError && err.reservation) }),
    }).start();
  });
  return {
    status,
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

/** Resolves open reservations. After a failure, continues with the other reservations. Throws `UnresolvedError` at the end. */
async function resolveReservations(
  deps: RecoveryDeps,
  status: RecoveryStatus,
  signal: AbortSignal,
): Promise<void> {
  const { creditAccounts, clock } = deps;
  const now = clock.now();
  let unresolved = 0;
  let failure: UnresolvedError | undefined;
  for await (const { organization_id, contact_id, id, reserved_at } of creditAccounts.overdue(
    now - OVERDUE_MS,
  )) {
    if (signal.aborted) return;
    if (unresolved < MAX_FAILURES) {
      try {
        await resolveReservation(deps, organization_id, contact_id, id, now);
        continue;
      } catch (error) {
        failure ??= new UnresolvedError({ organization_id, contact_id, age_ms: now - reserved_at }, error);
      }
    }
    unresolved++;
  }
  status.overdueReservations = unresolved;
  if (failure) throw failure;
}

/** Skipped during a reindex; the next run retries. */
async function deleteExpiredKeys(
  { cluster, names, idempotencyKeys, clock, log }: RecoveryDeps,
  signal: AbortSignal,
): Promise<void> {
  const { keys, before } = await idempotencyKeys.countExpired();
  if (keys === 0) return;
  const lock = await acquireReindexLock(cluster, names, clock);
  if (!lock) return;
  try {
    log?.info({ keys, before: new Date(before).toISOString() }, 'deletes expired idempotency keys');
    await idempotencyKeys.deleteExpired(AbortSignal.any([signal, lock.lost]));
  } finally {
    await lock.release();
  }
}
