/** Cleans up after processes that died. Every process runs it; concurrent runs are safe. */
import { PeriodicJob } from '../../shared/periodic-job.js';
import type { Clock } from '../../shared/time.js';
import type { RecoveryStatus } from '../common/search-store.js';
import type { Cluster } from './client.js';
import type { ContactWrites } from './contacts/writes.js';
import type { Ledger } from './credits.js';
import type { Erasures } from './erasure/erasures.js';
import type { IdempotencyKeys } from './idempotency.js';
import type { IndexNames } from './migrations/indices.js';
import { acquireReindexLock, recoverReindex } from './migrations/reindex-lock.js';

/** Rarely is a creation still running then, and its credits are soon returned. */
const OVERDUE_MS = 60_000;
/** A reindex that died blocks writes until its lease has expired and a job has run: shorter than writers wait. */
const INTERVAL_MS = 5000;
/** Between two log lines about failures. */
const LOG_INTERVAL_MS = 60_000;

/** After this many failures in a run, further reservations are only counted: they would probably fail too, slowly. */
const MAX_FAILURES = 20;

/** Resolves with whether the work succeeded. */
type Attempt = (step: object, work: () => Promise<void>) => Promise<boolean>;

export interface RecoveryLog {
  warn(details: object, message: string): void;
}

export interface RecoveryDeps {
  cluster: Cluster;
  names: IndexNames;
  ledger: Ledger;
  idempotencyKeys: IdempotencyKeys;
  contacts: ContactWrites;
  erasures: Erasures;
  clock: Clock;
  log?: RecoveryLog;
}

/** Some steps of a run failed. */
class RecoveryError extends Error {
  override readonly name = 'RecoveryError';
  readonly failures: readonly object[];

  constructor(failures: readonly object[]) {
    super(`${failures.length} steps of the recovery failed`);
    this.failures = failures;
  }
}

/** Runs every few seconds until stopped. Failures are counted, logged and retried by the next run. */
export function startRecovery(
  deps: RecoveryDeps,
  intervalMs = INTERVAL_MS,
): Pick<PeriodicJob, 'stop'> & { readonly status: Readonly<RecoveryStatus> } {
  const status: RecoveryStatus = { overdueReservations: 0, failures: 0 };
  const job = new PeriodicJob((signal) => recover(deps, status, signal), {
    intervalMs,
    failure: 'recovery failed and is tried again',
    logIntervalMs: LOG_INTERVAL_MS,
    log: deps.log,
    details(error) {
      if (!(error instanceof RecoveryError)) return { err: error };
      const { failures } = error;
      return {
        ...failures[0],
        failures: failures.length,
        overdue_reservations: status.overdueReservations,
      };
    },
  }).start();
  return { status, stop: () => job.stop() };
}

/** A step that fails does not stop the others; then throws `RecoveryError`. */
async function recover(deps: RecoveryDeps, status: RecoveryStatus, signal: AbortSignal): Promise<void> {
  const { cluster, names, erasures, clock } = deps;
  const failures: object[] = [];
  const attempt: Attempt = async (step, work) => {
    try {
      await work();
      return true;
    } catch (err) {
      failures.push({ ...step, err });
      return false;
    }
  };
  await attempt({ step: 'roll back a reindex' }, () => recoverReindex(cluster, names, clock));
  await attempt({ step: 'find overdue reservations' }, () =>
    resolveReservations(deps, status, attempt, signal),
  );
  await attempt({ step: 'delete expired idempotency keys' }, () => purge(deps));
  await attempt({ step: 'complete erasures' }, () => erasures.complete());
  status.failures += failures.length;
  if (failures.length > 0) throw new RecoveryError(failures);
}

async function resolveReservations(
  { ledger, contacts, clock }: RecoveryDeps,
  status: RecoveryStatus,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const now = clock.now();
  let unresolved = 0;
  for await (const { organization_id, contact_id, id, reserved_at } of ledger.overdue(now - OVERDUE_MS)) {
    if (signal.aborted) return;
    const step = { step: 'resolve a reservation', organization_id, contact_id, age_ms: now - reserved_at };
    const isResolved =
      unresolved < MAX_FAILURES &&
      (await attempt(step, () => contacts.resolveReservation(organization_id, contact_id, id, now)));
    if (!isResolved) unresolved += 1;
  }
  status.overdueReservations = unresolved;
}

/** Skipped during a reindex; the next run retries. */
async function purge({ cluster, names, idempotencyKeys, clock }: RecoveryDeps): Promise<void> {
  if (!(await idempotencyKeys.hasExpired())) return;
  const lock = await acquireReindexLock(cluster, names, clock);
  if (!lock) return;
  try {
    await idempotencyKeys.purgeExpired(lock.lost);
  } finally {
    await lock.release();
  }
}
