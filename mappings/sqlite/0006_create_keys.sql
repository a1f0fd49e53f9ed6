-- last_used_at: ISO 8601, precise to an hour; null while the key was never used.
-- ancestors: JSON array of ids, the maker of the key first; empty for keys that the command line made.
-- descendants_revoked_at: when all keys that descend from this key were revoked.
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  name TEXT,
  scopes TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT,
  last_used_at TEXT,
  ancestors TEXT NOT NULL DEFAULT '[]',
  descendants_revoked_at TEXT
);

-- Read and count pages of lists. The command line makes a key for each run and revokes it at the end; lists leave those out.
CREATE INDEX keys_by_organization ON keys (organization_id, created_at, id, name, expires_at)
  WHERE name IS NOT 'one run of reachline' OR revoked_at IS NULL;
CREATE INDEX keys_by_time ON keys (created_at, id, name, expires_at)
  WHERE name IS NOT 'one run of reachline' OR revoked_at IS NULL;
-- Finds keys by the key that made them.
CREATE INDEX keys_by_maker ON keys (ancestors ->> 0, id);
