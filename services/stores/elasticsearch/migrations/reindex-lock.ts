import type { Clock } from '../../../shared/time.js';
import type { Cluster } from '../client.js';
import { Documents } from '../documents.js';
import { Lease, type LeaseSource } from '../lease.js';
import type { IndexNames } from './indices.js';
import { rollBack } from './reindex-steps.js';

/** What would have to be undone if the holder died; null while there is nothing. */
interface ReindexLockSource extends LeaseSource {
  index: string | null;
  successor: string | null;
}

/** Excludes reindexing in other processes, and deleting documents, which a reindex would not see. */
export type ReindexLock = Lease<ReindexLockSource>;

/** Writers wait for twice as long while an index is blocked: they outlast a holder that died. */
const LEASE_MS = 10_000;
const LOCK_ID = 'rebuild';

const lockDocuments = (cluster: Cluster, names: IndexNames) =>
  new Documents<ReindexLockSource>(cluster, names.alias('migrations'));

/** Null while another process holds it. Rolls back what a holder that died has left behind. */
export async function acquireReindexLock(
  cluster: Cluster,
  names: IndexNames,
  clock: Clock,
): Promise<ReindexLock | null> {
  const acquired = await Lease.acquire<ReindexLockSource, null>(
    lockDocuments(cluster, names),
    LOCK_ID,
    { durationMs: LEASE_MS, clock },
    (before, isHeld) => {
      if (isHeld) return { refuse: null };
      // The names stay until what they name is rolled back, so that a second death does not lose them.
      return { take: { index: before?.index ?? null, successor: before?.successor ?? null } };
    },
  );
  if ('refused' in acquired) return null;
  const { lease } = acquired;
  try {
    await rollBackReindex(cluster, lease);
    return lease;
  } catch (error) {
    await lease.release().catch(() => undefined);
    throw error;
  }
}

/** Undoes the reindex that the lock names, or finishes one whose aliases have moved. */
export async function rollBackReindex(
  cluster: Cluster,
  lock: ReindexLock,
): Promise<'undone' | 'finished' | 'nothing'> {
  const { index, successor } = lock.source;
  if (index === null || successor === null) return 'nothing';
  const outcome = await rollBack(cluster, index, successor);
  await lock.update({ index: null, successor: null });
  return outcome;
}

/** Rolls back the reindex of a process that died, so that writes are not blocked for ever. */
export async function recoverReindex(cluster: Cluster, names: IndexNames, clock: Clock): Promise<void> {
  const found = await lockDocuments(cluster, names).get(LOCK_ID);
  if (!found || found.source.lease_until > clock.now() || found.source.successor === null) return;
  const lock = await acquireReindexLock(cluster, names, clock);
  await lock?.release();
}
