-- What is left of deleted contacts, so that an older record does not bring one back (contract 6.2, recordOrder).
CREATE TABLE deleted_contacts (
  organization INTEGER NOT NULL,
  id TEXT NOT NULL,
  record_order TEXT NOT NULL,
  PRIMARY KEY (organization, id)
) WITHOUT ROWID;

-- One row: the key of the hashes below, hexadecimal; made with the first erasure.
CREATE TABLE suppression_secret (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  secret TEXT NOT NULL
);

-- Identifiers of erased persons: HMAC-SHA256 of [organization, kind, value], hexadecimal.
CREATE TABLE suppressed (
  organization_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (organization_id, hash)
) WITHOUT ROWID;

-- One row per erasure. proof: JSON without personal data. completed_at: null while bytes may be left, which the next start removes.
CREATE TABLE erasures (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  proof TEXT NOT NULL,
  completed_at TEXT
) WITHOUT ROWID;
