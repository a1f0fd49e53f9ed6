import type { Page, SortKey } from '../search/query.js';

/** An API key as a store answers it: never the secret itself. Times are ISO 8601 UTC. */
export interface StoredKey {
  id: string;
  /** SHA-256 of the secret, hexadecimal. */
  secret_hash: string;
  organization_id: string;
  name: string | null;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  /** When it was revoked, or the first of its ancestors with its descendants. */
  revoked_at: string | null;
  /** Precise to an hour; null while it was never used. */
  last_used_at: string | null;
  /** Ids of the key that made it, of the key that made that one, and so on. Empty for keys of the command line. */
  ancestors: string[];
}

export interface KeySearch {
  /** Absent for the keys of all organizations. */
  organizationId?: string;
  limit: number;
  /** End of the previous page, by `created_at` and `id`. */
  after?: SortKey;
  /** Lists leave out keys of runs that are over by then; in milliseconds since the epoch. */
  now: number;
}

/** Conditions that must hold when a key is stored. */
export interface InsertRules {
  /** Listed keys that an organization may have. */
  maxKeys?: number;
  /** The key that made it, its first ancestor, must be active at this time, in milliseconds since the epoch. */
  makerActiveAt?: number;
}

/** Nothing is written but for `inserted`. */
export type Insertion = 'inserted' | 'too_many_keys' | 'maker_ended';

export interface KeyStore {
  findKey(keyId: string, signal?: AbortSignal): Promise<StoredKey | null>;
  insertKey(key: StoredKey, rules?: InsertRules): Promise<Insertion>;
  /** Newest first. */
  listKeys(search: KeySearch, signal?: AbortSignal): Promise<Page<StoredKey>>;
  /** Keys that descend from the key and are neither revoked themselves nor expired at `now`, in milliseconds since the epoch. */
  countDescendants(organizationId: string, keyId: string, now: number, signal?: AbortSignal): Promise<number>;
  /**
   * One write, however many keys descend from it: `findKey` and `listKeys` answer those as revoked too, unless `keepDescendants`. False
   * when no key has the id. Revoking twice keeps the first time.
   */
  revokeKey(keyId: string, revokedAt: string, keepDescendants?: boolean): Promise<boolean>;
  /** Keeps the latest time; does nothing when no key has the id. */
  recordKeyUse(keyId: string, usedAt: string): Promise<void>;
}
