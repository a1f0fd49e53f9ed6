/** Blocks that prevent writes to indices. A full disk or an operator sets them, and a reindex sets them for seconds. */
import { DiskFullError, ReadOnlyError } from '../../shared/store-errors.js';
import type { Cluster } from './client.js';

const BLOCKS = 'index.blocks.';
const NAMES = ['read_only', 'read_only_allow_delete', 'write'] as const;

export interface IndexBlock {
  index: string;
  name: (typeof NAMES)[number];
}

/** All write blocks, except the block of a running reindex. */
export async function findBlocks(cluster: Cluster): Promise<IndexBlock[]> {
  const found = await readBlocks(cluster);
  if (!found.some(isOfWrites)) return found;
  const reindexed = await readReindexed(cluster);
  // Reads the blocks again: a reindex that has just ended lifts its block before it removes its record.
  return (await readBlocks(cluster)).filter((block) => !isOfWrites(block) || block.index !== reindexed);
}

/** Elasticsearch sets this block on every index of a node whose disk is above the flood stage. */
export const isOfFullDisk = ({ name }: IndexBlock) => name === 'read_only_allow_delete';
const isOfWrites = ({ name }: IndexBlock) => name === 'write';

async function readBlocks(cluster: Cluster): Promise<IndexBlock[]> {
  const settings = await cluster.run((client) =>
    client.indices.getSettings({
      index: `${cluster.indexPrefix}-*`,
      name: `${BLOCKS}*`,
      flat_settings: true,
    }),
  );
  return Object.entries(settings).flatMap(([index, { settings: flat = {} }]) =>
    NAMES.flatMap((name) =>
      (flat as Record<string, unknown>)[`${BLOCKS}${name}`] === 'true' ? [{ index, name }] : [],
    ),
  );
}

/** The index that a reindex has recorded in its lock. */
async function readReindexed(cluster: Cluster): Promise<string | null> {
  const lock = await cluster.run((client) =>
    client.get<{ index: string | null }>(
      { index: `${cluster.indexPrefix}-migrations`, id: REINDEX_LOCK_ID },
      { ignore: [404] },
    ),
  );
  return lock._source?.index ?? null;
}

/** Id of the document that serves as the lock of migrations. */
export const REINDEX_LOCK_ID = 'rebuild';

const requests = new WeakMap<Cluster, Promise<IndexBlock[]>>();

/**
 * Throws `DiskFullError` if the cluster blocks writes because a disk is full, and `ReadOnlyError` if an operator blocked writes. Many
 * writers that check at the same time share one request.
 */
export async function throwIfBlocked(cluster: Cluster, cause?: Error): Promise<void> {
  let request = requests.get(cluster);
  if (!request) {
    request = findBlocks(cluster).finally(() => requests.delete(cluster));
    requests.set(cluster, request);
  }
  const blocks = await request;
  if (blocks.some(isOfFullDisk)) throw new DiskFullError('records', { cause });
  if (blocks.some(isOfWrites)) throw new ReadOnlyError('records', { cause });
}
