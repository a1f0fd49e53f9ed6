import type { Clock } from '../../../shared/time.js';
import { REINDEX_LOCK_ID } from '../blocks.js';
import type { Cluster } from '../client.js';
import { Documents } from '../documents.js';
import { isHeld, Lease, type LeaseHolder, type LeaseSource, leaseHolder } from '../lease.js';
import type { IndexNames } from './indices.js';
import { rollBack } from './reindex-steps.js';

/**
 * The reindex that the next holder rolls back if this holder dies; null if no reindex runs. `successor` is the stored name of the target
 * index.
 */
interface ReindexLockSource extends LeaseSource {
  index: string | null;
  successor: string | null;
}

/** Lock that excludes reindexing by other processes, and deleting documents, which a reindex does not see. */
export type ReindexLock = Lease<ReindexLockSource>;

/** Duration of the lease. Writers wait twice as long while an index is blocked, so they outlast a holder that died. */
const LEASE_MS = 10_000;

const lockDocuments = (cluster: Cluster, names: IndexNames) =>
  new Documents<ReindexLockSource>(cluster, names.alias('migrations'));

/** Acquires the lock; null while another process holds it. Rolls back the reindex of a holder that died. */
export async function acquireReindexLock(
  cluster: Cluster,
  names: IndexNames,
  clock: Clock,
): Promise<ReindexLock | null> {
  const result = await Lease.acquire<ReindexLockSource, null>(
    lockDocuments(cluster, names),
    REINDEX_LOCK_ID,
    { durationMs: LEASE_MS, clock },
    (previous, held) => {
      if (held) return { reject: null };
      // The target stays recorded until it is rolled back, in case this process dies too.
      return { acquire: { index: previous?.index ?? null, successor: previous?.successor ?? null } };
    },
  );
  if ('rejected' in result) return null;
  const { lease } = result;
  try {
    await rollBackReindex(cluster, lease);
    return lease;
  } catch (error) {
    await lease.release().catch(() => undefined);
    throw error;
  }
}

export async function findReindexLockHolder(
  cluster: Cluster,
  names: IndexNames,
  clock: Clock,
): Promise<LeaseHolder | null> {
  const found = await lockDocuments(cluster, names).get(REINDEX_LOCK_ID);
  return found && isHeld(found.source, clock) ? leaseHolder(found.source) : null;
}

export const recordTarget = (lock: ReindexLock, index: string, target: string): Promise<void> =>
  lock.update({ index, successor: target });

export const clearTarget = (lock: ReindexLock): Promise<void> =>
  lock.update({ index: null, successor: null });

/** Rolls back the recorded reindex, or finishes it if the aliases have moved. */
export async function rollBackReindex(
  cluster: Cluster,
  lock: ReindexLock,
): Promise<'rolled back' | 'finished' | 'nothing to do'> {
  const { index, successor } = lock.source;
  if (index === null || successor === null) return 'nothing to do';
  const outcome = await rollBack(cluster, index, successor);
  await clearTarget(lock);
  return outcome;
}

/** Rolls back the reindex of a process that died, so that writes do not stay blocked. */
export async function recoverReindex(cluster: Cluster, names: IndexNames, clock: Clock): Promise<void> {
  const found = await lockDocuments(cluster, names).get(REINDEX_LOCK_ID);
  if (!found || found.source.successor === null || isHeld(found.source, clock)) return;
  const lock = await acquireReindexLock(cluster, names, clock);
  await lock?.release();
}
