import { setTimeout as pause } from 'node:timers/promises';
import type { ElasticsearchConfig } from '../../../shared/config.js';
import { retry } from '../../../shared/retry.js';
import { type Clock, systemClock } from '../../../shared/time.js';
import { Cluster } from '../client.js';
import { isOutage } from '../errors.js';
import type { LeaseHolder } from '../lease.js';
import { toDocument } from './derivations.js';
import {
  createMissingIndices,
  IndexNames,
  needsReindex,
  type Resource,
  readIndices,
  setReplicas,
} from './indices.js';
import { reindex } from './reindex.js';
import { acquireReindexLock, findReindexLockHolder, type ReindexLock } from './reindex-lock.js';

export interface MigrateOptions {
  /** Resources to reindex even if their indices have the right version. */
  reindexed?: readonly Resource[];
  /** Folder of the index definitions. */
  mappings?: string;
  clock?: Clock;
  onProgress?(index: string, copied: number, total: number): void;
  /** Called once for each process that holds the lock while this process waits for it. */
  onWait?(holder: LeaseHolder): void;
  /** Maximum retries after outages that are longer than the lease of the lock; by default unlimited. */
  retries?: number;
  /** Called before each retry. */
  onRetry?(error: unknown): void;
}

const LOCK_POLL_MS = 500;
const OUTAGE_RETRY = { firstMs: 1000, maxMs: 30_000 };

/**
 * Creates missing indices and reindexes indices of an older version under live traffic, one process at a time. Waits while the cluster is
 * down. Resolves with the names of the new indices. Throws `UnreleasedVersionError`, and `MigrationNeededError` for indices of a
 * newer version.
 */
export async function migrateElasticsearch(
  config: ElasticsearchConfig,
  {
    reindexed = [],
    mappings,
    clock = systemClock,
    onProgress,
    onWait,
    retries,
    onRetry,
  }: MigrateOptions = {},
): Promise<string[]> {
  const cluster = new Cluster(config);
  const names = new IndexNames(config.indexPrefix);
  const created: string[] = [];

  async function reindexAll(): Promise<void> {
    const lock = await waitForLock(cluster, names, clock, onWait);
    try {
      for (const { resource, definition, live: indices } of await readIndices(cluster, names, mappings)) {
        const all = names.alias(resource);
        for (const live of indices) {
          if (created.includes(live.index)) continue;
          if (!needsReindex(live, definition) && !reindexed.includes(resource)) continue;
          created.push(
            await reindex({
              cluster,
              names,
              clock,
              live,
              aliases: live.alias === all ? [] : [all],
              definition,
              toDocument: (source) => toDocument(resource, source),
              lock,
              onProgress: (copied, total) => onProgress?.(live.index, copied, total),
            }),
          );
        }
      }
    } finally {
      await lock.release().catch(() => undefined);
    }
  }

  try {
    await createMissingIndices(cluster, names, mappings);
    await setReplicas(cluster, names);
    await retry({ ...OUTAGE_RETRY, retries }, reindexAll, { isRetriable: isOutage, onRetry });
    return created;
  } finally {
    await cluster.close();
  }
}

async function waitForLock(
  cluster: Cluster,
  names: IndexNames,
  clock: Clock,
  onWait: MigrateOptions['onWait'],
): Promise<ReindexLock> {
  for (let last: LeaseHolder | undefined; ; ) {
    const lock = await acquireReindexLock(cluster, names, clock);
    if (lock) return lock;
    const holder = await findReindexLockHolder(cluster, names, clock);
    if (holder && (holder.name !== last?.name || holder.since !== last.since)) {
      last = holder;
      onWait?.(holder);
    }
    await pause(LOCK_POLL_MS);
  }
}
