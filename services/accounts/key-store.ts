/** An API key as stored: never the secret itself. Times are ISO 8601 UTC. */
export interface StoredKey {
  id: string;
  /** SHA-256 of the secret, hexadecimal. */
  secret_hash: string;
  organization_id: string;
  name: string | null;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** Precise to an hour; null while it was never used. */
  last_used_at: string | null;
}

export interface KeyStore {
  findKey(keyId: string, signal?: AbortSignal): Promise<StoredKey | null>;
  insertKey(key: StoredKey): Promise<void>;
  /** Oldest first; of one organization, or all. */
  listKeys(organizationId?: string): Promise<StoredKey[]>;
  /** False when no key has the id. Revoking twice keeps the first time. */
  revokeKey(keyId: string, revokedAt: string): Promise<boolean>;
  /** Keeps the latest time; does nothing when no key has the id. */
  recordKeyUse(keyId: string, usedAt: string): Promise<void>;
}
