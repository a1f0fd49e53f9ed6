CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  name TEXT,
  scopes TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT
);

-- An organization without a row is not metered.
CREATE TABLE credits (
  organization_id TEXT PRIMARY KEY,
  balance INTEGER NOT NULL
) WITHOUT ROWID;

-- Outcomes of writes made under an Idempotency-Key (contract 3.4).
CREATE TABLE idempotency (
  organization_id TEXT NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  saved_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  PRIMARY KEY (organization_id, route, key)
) WITHOUT ROWID;

CREATE INDEX idempotency_by_time ON idempotency (saved_ms);
