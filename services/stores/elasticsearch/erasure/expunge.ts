/**
 * Removes the bytes of erased documents. Elasticsearch keeps a deleted document in its segment until a merge. No merge drops it while a
 * copy of the shard may still need it: a copy that lags or, for half a day, a copy on a node that is down. So a force merge counts only for
 * deletions that every copy had released before the merge began, and only if every copy is assigned and took part. A node that comes back
 * later gets a new copy. One force merge at a time serves all erasures, at most one per day, because it rewrites every segment with a
 * deletion. It runs in the cluster; this process holds no lock meanwhile.
 */
import type { Cluster } from '../client.js';
import { unavailable } from '../errors.js';

/** Sequence numbers, by index and shard. */
export type ShardNumbers = Readonly<Record<string, number>>;

export interface ForceMerge {
  task: string;
  /** Lowest sequence numbers of the deleted documents that merges which begin now still keep. */
  retainedFrom: ShardNumbers;
}

interface ShardCounts {
  total?: number;
  successful?: number;
  failed?: number;
}

/** Whether every copy took part, including unassigned copies. */
const reachedAll = ({ total, successful, failed = 0 }: ShardCounts = {}): boolean =>
  failed === 0 && total !== undefined && total === successful;

/** The last operation of each shard. Throws `StoreUnavailableError` while a copy cannot report it. */
export async function lastOperations(cluster: Cluster, index: string): Promise<ShardNumbers> {
  return (await shardNumbers(cluster, index)).last;
}

/** Flushes an index, and returns the numbers from which a merge keeps deleted documents; null while a copy is not assigned. */
export async function prepareForceMerge(cluster: Cluster, index: string): Promise<ShardNumbers | null> {
  // The last commit decides which deletions a merge keeps.
  await flush(cluster, index);
  const { retainedFrom, shards } = await shardNumbers(cluster, index);
  return reachedAll(shards) ? retainedFrom : null;
}

/** Resolves with the task that merges the segments with deleted documents. */
export async function startForceMerge(cluster: Cluster, index: string): Promise<string> {
  return cluster.run(async (client) => {
    // By default, segments in which less than a tenth of the documents is deleted would stay unchanged.
    await client.indices.putSettings({
      index,
      settings: { 'index.merge.policy.expunge_deletes_allowed': 0 },
    });
    const { task } = await client.indices.forcemerge({
      index,
      only_expunge_deletes: true,
      wait_for_completion: false,
    });
    return String(task);
  });
}

/** The state of a force merge. The merge also counts as failed if the node of its task is gone or a copy did not take part. */
export async function forceMergeState(
  cluster: Cluster,
  index: string,
  task: string,
): Promise<'running' | 'done' | 'failed'> {
  const found = await cluster.run((client) => client.tasks.get({ task_id: task }, { ignore: [404] }));
  if (found.completed === undefined) return 'failed';
  if (!found.completed) return 'running';
  const { _shards } = (found.response ?? {}) as { _shards?: ShardCounts };
  if (found.error || !reachedAll(_shards)) return 'failed';
  // The second commit after a commit deletes the files of that commit.
  await flush(cluster, index);
  await flush(cluster, index);
  return 'done';
}

/**
 * Whether a force merge drops documents that were deleted before these operations. A missing index was replaced by an index without deleted
 * documents.
 */
export const isDropped = (deletedUpTo: ShardNumbers, retainedFrom: ShardNumbers): boolean =>
  Object.entries(deletedUpTo).every(
    ([shard, last]) => (retainedFrom[shard] ?? Number.POSITIVE_INFINITY) > last,
  );

/** Flushes, which also trims the transaction log. */
async function flush(cluster: Cluster, index: string): Promise<void> {
  await cluster.run((client) => client.indices.flush({ index, force: true, wait_if_ongoing: true }));
}

async function shardNumbers(cluster: Cluster, index: string) {
  const { indices = {}, _shards: shards } = await cluster.run((client) =>
    client.indices.stats({ index, level: 'shards' }),
  );
  const last: Record<string, number> = {};
  const retainedFrom: Record<string, number> = {};
  for (const [name, { shards: byNumber = {} }] of Object.entries(indices)) {
    for (const [number, copies] of Object.entries(byNumber)) {
      const shard = `${name}/${number}`;
      const sequenceNumbers = copies.map(({ seq_no }) => {
        if (!seq_no) throw unavailable(`a copy of ${shard} has no sequence numbers`);
        return seq_no.max_seq_no;
      });
      last[shard] = Math.max(...sequenceNumbers);
      retainedFrom[shard] = Math.min(
        ...copies.map(({ commit }) => Number(commit?.user_data?.min_retained_seq_no ?? 0)),
      );
    }
  }
  return { last, retainedFrom, shards };
}
