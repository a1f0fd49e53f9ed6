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
  /** Resources whose indices are rebuilt though they are of the right version. */
  rebuilt?: readonly Resource[];
  /** Where the definitions come from. */
  mappings?: string;
  clock?: Clock;
  onProgress?(index: string, copied: number, total: number): void;
}

const LOCK_PAUSE_MS = 500;

/** Documents are derived from what is kept, so that a rebuild follows the code, not only the mapping. */
const toDocument: { [name in Resource]?: (source: unknown) => object } = {
  contacts: (source) => contactDocument(source as ContactSource),
  audiences: (source) => audienceDocument(source as AudienceSource),
  visits: (source) => visitDocument(source as VisitSource),
  // Version 1 called the owner of a key's lease its attempt.
  idempotency: (source) => {
    const { attempt, ...rest } = source as IdempotencySource & { attempt?: string };
    return attempt === undefined ? rest : { ...rest, owner: attempt };
  },
};

/**
 * Makes the indices that are missing and rebuilds those of an older version, under live traffic. Resolves with the names of
 * the new indices. Processes that do so at once take turns. Throws `MappingChangedError` and `MigrationNeededError`.
 */
export async function migrateElasticsearch(
  config: ElasticsearchConfig,
  { rebuilt = [], mappings, clock = systemClock, onProgress }: MigrateOptions = {},
): Promise<string[]> {
  const cluster = new Cluster(config);
  const names = new IndexNames(config.indexPrefix);
  try {
    await createMissingIndices(cluster, names, mappings);
    const lock = await waitForLock(cluster, names, clock);
    try {
      const made: string[] = [];
      for (const resource of RESOURCES) {
        const definition = readDefinition(resource, mappings);
        const all = names.alias(resource);
        for (const live of await liveIndices(cluster, names, resource)) {
          if (!needsReindex(resource, live, definition) && !rebuilt.includes(resource)) continue;
          made.push(
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
      return made;
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
    await pause(LOCK_PAUSE_MS);
  }
}
