/** The suppression list, one document per hash; and the secret of the hashes. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ErasureProof } from '../../../contacts/erasure-store.js';
import {
  type Identifier,
  identifierHash,
  listedHashes,
  SECRET_BYTES,
} from '../../../contacts/suppression.js';
import type { Clock } from '../../../shared/time.js';
import { type Documents, documentId } from '../documents.js';
import { retryWithBackoff } from '../retry.js';

/** A document of the index: the secret, a suppressed hash, or an erasure. */
export interface ErasureSource {
  organization_id?: string;
  secret?: string;
  hash?: string;
  /** Milliseconds since the epoch. */
  requested_at?: number;
  proof_id?: string;
  /** Whether bytes may be left; then `contact_ids` names what to delete. */
  pending?: boolean;
  contact_ids?: string[];
  proof?: ErasureProof;
}

const SECRET_ID = 'secret';
/** How long a process may not know of an erasure by another. */
const CACHE_TTL_MS = 1000;
const HASHES_PER_PAGE = 10_000;
/** Hashes of all cached lists, some 100 bytes each; a longer list is read for every batch. */
const MAX_CACHED_HASHES = 500_000;

/** The lists of some organizations. */
export type IncludesIdentifier = (
  organizationId: string,
  identifiers: () => readonly Identifier[],
) => boolean;

interface CachedList {
  hashes: ReadonlySet<string>;
  expiresAt: number;
}

export class SuppressionLists {
  readonly #documents: Documents<ErasureSource>;
  readonly #clock: Clock;
  readonly #lists = new LRUCache<string, CachedList>({
    maxSize: MAX_CACHED_HASHES,
    sizeCalculation: ({ hashes }) => hashes.size + 1,
  });
  #secret: string | undefined;

  constructor(documents: Documents<ErasureSource>, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /** Reads the lists of organizations, at most once a second each. */
  async load(organizationIds: Iterable<string>): Promise<IncludesIdentifier> {
    const now = this.#clock.now();
    const lists = new Map<string, ReadonlySet<string>>();
    const stale: string[] = [];
    for (const id of new Set(organizationIds)) {
      const known = this.#lists.get(id);
      if (known && known.expiresAt > now) lists.set(id, known.hashes);
      else stale.push(id);
    }
    if (stale.length > 0) {
      for (const [id, hashes] of await this.#read(stale)) {
        lists.set(id, hashes);
        this.#lists.set(id, { hashes, expiresAt: now + CACHE_TTL_MS });
      }
    }
    const isUsed = [...lists.values()].some(({ size }) => size > 0);
    const secret = isUsed ? await this.#readSecret() : undefined;
    return (organizationId, identifiers) => {
      const hashes = lists.get(organizationId);
      if (!hashes?.size || secret === undefined) return false;
      return identifiers().some((each) =>
        listedHashes(secret, organizationId, each).some((hash) => hashes.has(hash)),
      );
    };
  }

  /** Adds identifiers, and waits until every process knows them. Resolves with their hashes. */
  async add(organizationId: string, identifiers: readonly Identifier[]): Promise<string[]> {
    const secret = (await this.#readSecret()) ?? (await this.#createSecret());
    const hashes = identifiers.map((each) => identifierHash(secret, organizationId, each));
    const changes = hashes.map((hash) => ({
      id: documentId(organizationId, hash),
      json: () => JSON.stringify({ organization_id: organizationId, hash }),
    }));
    await this.#documents.writeMany(changes);
    await this.#documents.refresh();
    this.#lists.delete(organizationId);
    await pause(CACHE_TTL_MS);
    return hashes;
  }

  async #read(organizationIds: readonly string[]): Promise<Map<string, Set<string>>> {
    const read = new Map(organizationIds.map((id) => [id, new Set<string>()]));
    const pages = this.#documents.pages({
      size: HASHES_PER_PAGE,
      query: {
        bool: {
          filter: [{ terms: { organization_id: [...organizationIds] } }, { exists: { field: 'hash' } }],
        },
      },
      sort: [{ hash: 'asc' }, { organization_id: 'asc' }],
    });
    for await (const hits of pages) {
      for (const { _source } of hits) {
        const { organization_id = '', hash = '' } = _source as ErasureSource;
        read.get(organization_id)?.add(hash);
      }
    }
    return read;
  }

  async #readSecret(): Promise<string | undefined> {
    this.#secret ??= (await this.#documents.get(SECRET_ID))?.source.secret;
    return this.#secret;
  }

  /** The first of several processes decides. */
  #createSecret(): Promise<string> {
    return retryWithBackoff(async () => {
      const secret = randomBytes(SECRET_BYTES).toString('hex');
      await this.#documents.create(SECRET_ID, { secret }, { refresh: false });
      return this.#readSecret();
    });
  }
}
