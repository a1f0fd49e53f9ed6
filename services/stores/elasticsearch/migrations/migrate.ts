import { setTimeout as pause } from 'node:timers/promises';
import type { ContactBody } from '../../../contacts/stored-contact.js';
import type { ElasticsearchConfig } from '../../../shared/config.js';
import { fromJson, type Json } from '../../../shared/json.js';
import { type Clock, systemClock } from '../../../shared/time.js';
import type { Visit } from '../../../visits/schema.js';
import { type AudienceSource, type AudienceTombstone, audienceDocument } from '../audiences.js';
import { Cluster } from '../client.js';
import {
  type ContactSource,
  contactDocument,
  type IndexedContact,
  parseSource,
  type Tombstone,
} from '../contacts/mapping.js';
import type { ErasureSource } from '../erasure/suppression.js';
import type { IdempotencySource } from '../idempotency.js';
import { visitDocument } from '../visits.js';
import {
  createMissingIndices,
  IndexNames,
  liveIndices,
  needsReindex,
  RESOURCES,
  type Resource,
  readDefinition,
} from './indices.js';
import { type ReindexOptions, reindex } from './reindex.js';
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
export const toDocument: { [name in Resource]?: (source: never) => object } = {
  contacts: (source: ContactSource | ContactSourceOfVersion6 | Tombstone) =>
    contactDocument(isVersion6(source) ? fromVersion6(source) : parseSource(source)),
  audiences: (source: AudienceSource | AudienceTombstone) => audienceDocument(source),
  // In version 5 the visit was an object.
  visits: ({ visit }: { visit: Json<Visit> | Visit }) =>
    visitDocument(typeof visit === 'string' ? fromJson(visit) : visit),
  // In version 1 the owner of a lease was called `attempt`.
  idempotency: ({ attempt, ...rest }: IdempotencySource & { attempt?: string }) =>
    attempt === undefined ? rest : { ...rest, owner: attempt },
  // Version 1 had no `proof_id`.
  erasures: (source: ErasureSource) =>
    source.proof === undefined ? source : { ...source, proof_id: source.proof.proof_id },
};

/** In version 6 the contact was an object; its times and audiences were fields of their own. */
interface ContactSourceOfVersion6 extends Omit<ContactSource, 'contact'> {
  contact: ContactBody;
  created_at: number;
  updated_at: number;
  audience_ids: string[];
}

const isVersion6 = (source: object): source is ContactSourceOfVersion6 => 'audience_ids' in source;

const fromVersion6 = (source: ContactSourceOfVersion6): IndexedContact => ({
  createdMs: source.created_at,
  updatedMs: source.updated_at,
  recordOrder: source.record_order,
  audienceIds: source.audience_ids,
  body: source.contact,
  creation: source.creation,
  removals: source.removals,
});

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
              toDocument:
                (toDocument[resource] as ReindexOptions['toDocument']) ?? ((source) => source as object),
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
