import type { KeyStore, StoredKey } from '../../accounts/key-store.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { retryWithBackoff } from './retry.js';

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

    async revokeKey(keyId, revokedAt) {
      return retryWithBackoff(async () => {
        const found = await documents.get(keyId);
        if (!found) return false;
        if (found.source.revoked_at !== null) return true;
        const revoked = { ...found.source, revoked_at: revokedAt };
        return (await documents.replace(found, revoked, { refresh: 'wait_for' })) ? true : undefined;
      });
    },

    async recordKeyUse(keyId, usedAt) {
      await retryWithBackoff(async () => {
        const found = await documents.get(keyId);
        if (!found || (found.source.last_used_at ?? '') >= usedAt) return true;
        const used = { ...found.source, last_used_at: usedAt };
        return (await documents.replace(found, used, { refresh: false })) ? true : undefined;
      });
    },
  };
}
