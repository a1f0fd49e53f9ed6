import type { KeyStore, StoredKey } from '../../accounts/key-store.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import type { IndexNames } from './migrations/indices.js';

const KEYS_PER_PAGE = 1000;

export function keyStore(cluster: Cluster, names: IndexNames): KeyStore {
  const documents = new Documents<StoredKey>(cluster, names.alias('keys'));
  return {
    async findKey(keyId) {
      const found = await documents.get(keyId);
      return found?.source ?? null;
    },

    async insertKey(key) {
      const failure = await documents.create(key.id, key, { refresh: 'wait_for' }).then(
        (created) => (created ? null : new Error(`there is a key ${key.id} already`)),
        (error: Error) => error,
      );
      if (failure === null) return;
      // The key is ours when the secret matches: only a response was lost. Otherwise a key nobody was shown would stay active.
      const found = await documents.get(key.id).catch(() => null);
      if (found?.source.secret_hash !== key.secret_hash) throw failure;
      await documents.waitUntilSearchable(found);
    },

    async listKeys(organizationId) {
      const keys: StoredKey[] = [];
      const pages = documents.pages({
        size: KEYS_PER_PAGE,
        query:
          organizationId === undefined ? { match_all: {} } : { term: { organization_id: organizationId } },
        sort: [{ created_at: 'asc' }, { id: 'asc' }],
      });
      for await (const hits of pages) keys.push(...hits.map(({ _source }) => _source as StoredKey));
      return keys;
    },

    revokeKey(keyId, revokedAt) {
      return documents.update(keyId, (key) =>
        key.revoked_at === null ? { ...key, revoked_at: revokedAt } : null,
      );
    },

    async recordKeyUse(keyId, usedAt) {
      const change = (key: StoredKey) =>
        (key.last_used_at ?? '') < usedAt ? { ...key, last_used_at: usedAt } : null;
      await documents.update(keyId, change, { refresh: false });
    },
  };
}
