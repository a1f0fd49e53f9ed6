import type { Page, SortKey } from '../search/query.js';

/** An API key as a store returns it, never with the secret. Times are ISO 8601 UTC. */
export interface StoredKey {
  id: string;
  /** SHA-256 of the secret, hexadecimal. */
  secret_hash: string;
  organization_id: string;
  name: string | null;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  /** When the key was revoked, or an ancestor together with its descendants. */
  revoked_at: string | null;
  /** Precise to an hour; null if never used. */
  last_used_at: string | null;
  /** Ids of the key that created this key, of that key's creator, and so on. Empty for keys of the command line. */
  ancestors: string[];
}

export interface KeySearch {
  /** Absent to list the keys of all organizations. */
  organizationId?: string;
  limit: number;
  /** End of the previous page: `created_at` and `id`. */
  after?: SortKey;
  /** Lists leave out keys of runs that ended before this time, in milliseconds since the epoch. */
  now: number;
}

/** Conditions that must hold when a key is stored. */
export interface InsertRules {
  /** Maximum number of listed keys of an organization. */
  maxKeys?: number;
  /** The creating key, its first ancestor, must be active at this time, in milliseconds since the epoch. */
  makerActiveAt?: number;
}

/** Outcomes other than `inserted` wrote nothing. */
export type Insertion = 'inserted' | 'too_many_keys' | 'maker_ended';

export interface KeyStore {
  findKey(keyId: string, signal?: AbortSignal): Promise<StoredKey | null>;
  insertKey(key: StoredKey, rules?: InsertRules): Promise<Insertion>;
  /** Newest first. */
  listKeys(search: KeySearch, signal?: AbortSignal): Promise<Page<StoredKey>>;
  /**
   * Number of keys that descend from the key, are not revoked by their own id, and have not expired at `now`, in milliseconds since the
   * epoch.
   */
  countDescendants(organizationId: string, keyId: string, now: number, signal?: AbortSignal): Promise<number>;
  /**
   * Revokes a key with one write, however many keys descend from it: `findKey` and `listKeys` return descendants as revoked too, unless
   * `keepDescendants`. Returns false if no key has the id. Revoking twice keeps the first time.
   */
  revokeKey(keyId: string, revokedAt: string, keepDescendants?: boolean): Promise<boolean>;
  /** Keeps the latest time. Does nothing if no key has the id. */
  recordKeyUse(keyId: string, usedAt: string): Promise<void>;
}
