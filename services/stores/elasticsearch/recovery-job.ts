/** Finishes what processes that died have left behind. Every gateway runs it; two at once do no harm. */
import type { Clock } from '../../shared/clock.js';
import type { Cluster } from './cluster.js';
import type { ContactWrites } from './contact-writes.js';
import type { IdempotencyKeys } from './idempotency-keys.js';
import type { IndexNames } from './indices.js';
import type { Ledger } from './ledger.js';
import { acquireReindexLock, recoverReindex } from './reindex-lock.js';

/** Long enough that a creation is rarely still under way, and its credits are soon back. */
const OVERDUE_MS = 60_000;
/** A reindex that died blocks writes until its lease ended and a job ran: less than writers wait. */
const INTERVAL_MS = 5000;

export interface RecoveryDeps {
  cluster: Cluster;
  names: IndexNames;
  ledger: Ledger;
  idempotencyKeys: IdempotencyKeys;
  contacts: ContactWrites;
  clock: Clock;
}

export async function recover(deps: RecoveryDeps): Promise<void> {
  const { cluster, names, ledger, contacts, clock } = deps;
  await recoverReindex(cluster, names, clock);
  const now = clock.now();
  for (const { organizationId, reservations } of await ledger.overdue(now - OVERDUE_MS, 100)) {
    for (const { id, contact_id } of reservations) {
      await contacts.resolveReservation(organizationId, contact_id, id, now);
    }
  }
  await purge(deps);
}

/** Not while an index is rebuilt: the next run does it then. */
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

/** Runs every few seconds until stopped; what fails is tried again the next time. */
export function startRecoveryJob(
  runOnce: () => Promise<void>,
  intervalMs = INTERVAL_MS,
): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let running: Promise<void> = Promise.resolve();
  const schedule = () => {
    timer = setTimeout(
      () => {
        running = runOnce()
          .catch(() => undefined)
          .then(() => {
            if (!stopped) schedule();
          });
      },
      intervalMs * (0.75 + Math.random() / 2),
    );
    timer.unref();
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
