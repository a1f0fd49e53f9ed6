import { setTimeout as pause } from 'node:timers/promises';
import type { ElasticsearchConfig } from '../../../shared/config.js';
import { type Clock, systemClock } from '../../../shared/time.js';
import { type AudienceSource, audienceDocument } from '../audiences.js';
import { Cluster } from '../client.js';
import { type ContactSource, contactDocument } from '../contacts/mapping.js';
import type { IdempotencySource } from '../idempotency.js';
import { type VisitSource, visitDocument } from '../visits.js';
import {
  createMissingIndices,
  IndexNames,
  liveIndices,
  needsReindex,
  RESOURCES,
  type Resource,
  readDefinition,
} from './indices.js';
import { reindex } from './reindex.js';
import { acquireReindexLock, type ReindexLock } from './reindex-lock.js';

export interface MigrateOptions {
  /** Resources to reindex although their indices have the right version. */
  reindexed?: readonly Resource[];
  /** Folder of the index definitions. */
  mappings?: string;
  clock?: Clock;
  onProgress?(index: string, copied: number, total: number): void;
}

const LOCK_POLL_MS = 500;

/** Documents are derived anew from their stored fields, so that a reindex follows the code, not only the mapping. */
const toDocument: { [name in Resource]?: (source: unknown) => object } = {
  contacts: (source) => contactDocument(source as ContactSource),
  audiences: (source) => audienceDocument(source as AudienceSource),
  visits: (source) => visitDocument(source as VisitSource),
  // In version 1 the owner of a lease was called `attempt`.
  idempotency: (source) => {
    const { attempt, ...rest } = source as IdempotencySource & { attempt?: string };
    return attempt === undefined ? rest : { ...rest, owner: attempt };
  },
};

/**
 * Creates missing indices and reindexes those of an older version, under live traffic; one process at a time. Resolves with
 * the names of the new indices. Throws `MappingChangedError`, and `MigrationNeededError` for indices of a newer version.
 */
export async function migrateElasticsearch(
  config: ElasticsearchConfig,
  { reindexed = [], mappings, clock = systemClock, onProgress }: MigrateOptions = {},
): Promise<string[]> {
  const cluster = new Cluster(config);
  const names = new IndexNames(config.indexPrefix);
  try {
    await createMissingIndices(cluster, names, mappings);
    const lock = await waitForLock(cluster, names, clock);
    try {
      const created: string[] = [];
      for (const resource of RESOURCES) {
        const definition = readDefinition(resource, mappings);
        const all = names.alias(resource);
        for (const live of await liveIndices(cluster, names, resource)) {
          if (!needsReindex(resource, live, definition) && !reindexed.includes(resource)) continue;
          created.push(
            await reindex({
              cluster,
              names,
              clock,
              live,
              aliases: live.alias === all ? [] : [all],
              definition,
              toDocument: toDocument[resource] ?? ((source) => source as object),
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

async function waitForLock(cluster: Cluster, names: IndexNames, clock: Clock): Promise<ReindexLock> {
  for (;;) {
    const lock = await acquireReindexLock(cluster, names, clock);
    if (lock) return lock;
    await pause(LOCK_POLL_MS);
  }
}
