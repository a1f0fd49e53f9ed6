import type { KeyStore, StoredKey } from '../../accounts/key-store.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { retryWithBackoff } from './retry.js';

interface KeySource {
  id: string;
  secret_hash: string;
  organization_id: string;
  name: string | null;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

const KEYS_PER_PAGE = 1000;

export function keyStore(cluster: Cluster, names: IndexNames): KeyStore {
  const documents = new Documents<KeySource>(cluster, names.alias('keys'));
  return {
    async findKey(keyId) {
      const found = await documents.get(keyId);
      return found && toKey(found.source);
    },

    async insertKey(key) {
      const failure = await documents.create(key.id, toSource(key), { refresh: 'wait_for' }).then(
        (created) => (created ? null : new Error(`there is a key ${key.id} already`)),
        (error: Error) => error,
      );
      if (failure === null) return;
      // The key is ours when the secret matches: only a response was lost. Otherwise a key nobody was shown would stay active.
      const found = await documents.get(key.id).catch(() => null);
      if (found?.source.secret_hash !== key.secretHash) throw failure;
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
      for await (const hits of pages) keys.push(...hits.map(({ _source }) => toKey(_source as KeySource)));
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

function toSource(key: StoredKey): KeySource {
  return {
    id: key.id,
    secret_hash: key.secretHash,
    organization_id: key.organizationId,
    name: key.name,
    scopes: key.scopes,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
  };
}

function toKey(source: KeySource): StoredKey {
  return {
    id: source.id,
    secretHash: source.secret_hash,
    organizationId: source.organization_id,
    name: source.name,
    scopes: source.scopes,
    createdAt: source.created_at,
    expiresAt: source.expires_at,
    revokedAt: source.revoked_at,
    lastUsedAt: source.last_used_at,
  };
}
