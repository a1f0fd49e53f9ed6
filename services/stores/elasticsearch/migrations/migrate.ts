import { setTimeout as pause } from 'node:timers/promises';
import type { ElasticsearchConfig } from '../../../shared/config.js';
import { type Clock, systemClock } from '../../../shared/time.js';
import { Cluster } from '../client.js';
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
  /** Resources to reindex although their indices have the right version. */
  reindexed?: readonly Resource[];
  /** Folder of the index definitions. */
  mappings?: string;
  clock?: Clock;
  onProgress?(index: string, copied: number, total: number): void;
  /** Called once for each holder of the lock that it waits for. */
  onWait?(holder: LeaseHolder): void;
}

const LOCK_POLL_MS = 500;

/**
 * Creates missing indices and reindexes those of an older version, under live traffic; one process at a time. Resolves with
 * the names of the new indices. Throws `MappingChangedError`, and `MigrationNeededError` for indices of a newer version.
 */
export async function migrateElasticsearch(
  config: ElasticsearchConfig,
  { reindexed = [], mappings, clock = systemClock, onProgress, onWait }: MigrateOptions = {},
): Promise<string[]> {
  const cluster = new Cluster(config);
  const names = new IndexNames(config.indexPrefix);
  try {
    await createMissingIndices(cluster, names, mappings);
    await setReplicas(cluster, names);
    const lock = await waitForLock(cluster, names, clock, onWait);
    try {
      const created: string[] = [];
      for (const { resource, definition, live: indices } of await readIndices(cluster, names, mappings)) {
        const all = names.alias(resource);
        for (const live of indices) {
          if (!needsReindex(resource, live, definition) && !reindexed.includes(resource)) continue;
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
      return created;
    } finally {
      await lock.release().catch(() => undefined);
    }
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
