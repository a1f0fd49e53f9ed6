import type { estypes } from '@elastic/elasticsearch';
import type { KeyStore, StoredKey } from '../../accounts/key-store.js';
import { earliest, keyIsActive, RUN_KEY_NAME } from '../../accounts/keys.js';
import { fromJson, toJson } from '../../shared/json.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { fetchPage, searchAfter, totalHits } from './pages.js';

interface KeySource extends StoredKey {
  /** Time from which no key that descends from this key works. */
  descendants_revoked_at?: string | null;
}

type Clause = estypes.QueryDslQueryContainer;

const isRevoked: Clause = { exists: { field: 'revoked_at' } };
const isExpired = (now: number): Clause => ({
  range: { expires_at: { lte: now, format: 'epoch_millis' } },
});
const isOverRun = (now: number): Clause => ({
  bool: {
    filter: [
      { term: { name: RUN_KEY_NAME } },
      { bool: { should: [isRevoked, isExpired(now)], minimum_should_match: 1 } },
    ],
  },
});
const listed = (now: number, organizationId?: string): Clause => ({
  bool: {
    filter: organizationId === undefined ? [] : [{ term: { organization_id: organizationId } }],
    must_not: isOverRun(now),
  },
});

export function keyStore(cluster: Cluster, names: IndexNames): KeyStore {
  const documents = new Documents<KeySource>(cluster, names.alias('keys'));

  /** Keys as the port returns them, with the revocations of their ancestors. Reads the latest version of the ancestors. */
  async function withAncestors(sources: readonly KeySource[], signal?: AbortSignal): Promise<StoredKey[]> {
    const ids = new Set(sources.flatMap(({ ancestors }) => ancestors));
    const found = await documents.getMany(
      [...ids].map((id) => ({ id })),
      signal,
    );
    return sources.map(({ descendants_revoked_at: _, ancestors, ...key }) => ({
      ...key,
      revoked_at: ancestors.reduce(
        (first, id) => earliest(first, found.get(id)?.source.descendants_revoked_at ?? null),
        key.revoked_at,
      ),
      ancestors,
    }));
  }

  async function find(keyId: string, signal?: AbortSignal): Promise<StoredKey | null> {
    const found = await documents.get(keyId);
    const [key] = found ? await withAncestors([found.source], signal) : [];
    return key ?? null;
  }

  async function count(query: Clause, signal?: AbortSignal): Promise<number> {
    const { hits } = await documents.search({ size: 0, query }, signal);
    return totalHits(hits);
  }

  return {
    findKey: find,

    async insertKey(key, { maxKeys, makerActiveAt } = {}) {
      const now = Date.parse(key.created_at);
      if (maxKeys !== undefined && (await count(listed(now, key.organization_id))) >= maxKeys)
        return 'too_many_keys';
      const failure = await documents.create(key.id, key, { refresh: 'wait_for' }).then(
        (created) => (created ? null : new Error(`there is a key ${key.id} already`)),
        (error: Error) => error,
      );
      if (failure !== null) {
        // If the secret matches, this call wrote the key and only the response was lost. Throwing would leave an active key that no user
        // has seen.
        const found = await documents.get(key.id).catch(() => null);
        if (found?.source.secret_hash !== key.secret_hash) throw failure;
        await documents.waitUntilSearchable(found);
      }
      const [makerId] = key.ancestors;
      if (makerActiveAt === undefined || makerId === undefined) return 'inserted';
      // The creating key is checked only after the write, because a later revocation finds the new key among the descendants.
      const maker = await find(makerId);
      if (maker && keyIsActive(maker, makerActiveAt)) return 'inserted';
      const stored = await documents.get(key.id);
      if (stored) await documents.deleteMany([stored]);
      await documents.refresh();
      return 'maker_ended';
    },

    async listKeys({ organizationId, limit, after, now }, signal) {
      const request: estypes.SearchRequest = {
        query: listed(now, organizationId),
        sort: [{ created_at: 'desc' }, { id: 'desc' }],
        search_after: searchAfter(after, null),
      };
      const { result } = await fetchPage<KeySource, KeySource>(
        documents,
        request,
        { limit, bestScore: null, toJson },
        signal,
      );
      return { ...result, items: await withAncestors(result.items.map(fromJson), signal) };
    },

    countDescendants: (organizationId, keyId, now, signal) =>
      count(
        {
          bool: {
            filter: [{ term: { organization_id: organizationId } }, { term: { ancestors: keyId } }],
            must_not: [isRevoked, isExpired(now)],
          },
        },
        signal,
      ),

    revokeKey(keyId, revokedAt, keepDescendants = false) {
      return documents.update(keyId, (key) => {
        const { revoked_at, descendants_revoked_at = null } = key;
        const changed = {
          ...key,
          revoked_at: revoked_at ?? revokedAt,
          descendants_revoked_at: keepDescendants
            ? descendants_revoked_at
            : (descendants_revoked_at ?? revokedAt),
        };
        const isSame =
          changed.revoked_at === revoked_at && changed.descendants_revoked_at === descendants_revoked_at;
        return isSame ? null : changed;
      });
    },

    async recordKeyUse(keyId, usedAt) {
      const change = (key: KeySource) =>
        (key.last_used_at ?? '') < usedAt ? { ...key, last_used_at: usedAt } : null;
      await documents.update(keyId, change, { refresh: false });
    },
  };
}
