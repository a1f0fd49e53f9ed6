-- What is left of deleted contacts, so that an older record does not bring one back (contract 6.2, recordOrder).
CREATE TABLE deleted_contacts (
  organization INTEGER NOT NULL,
  id TEXT NOT NULL,
  record_order TEXT NOT NULL,
  PRIMARY KEY (organization, id)
) WITHOUT ROWID;

-- Salted hashes of the other identifiers of deleted contacts, so that an erasure by address finds their ids.
CREATE TABLE deleted_identifiers (
  organization INTEGER NOT NULL,
  hash TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (organization, hash, id)
) WITHOUT ROWID;

CREATE INDEX deleted_identifiers_by_id ON deleted_identifiers (organization, id);

-- One row: the key of the hashes, hexadecimal. The first erasure makes it.
CREATE TABLE suppression_secret (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  secret TEXT NOT NULL
);

-- Identifiers of erased persons. hash: HMAC-SHA256 of [organization, kind, value], hexadecimal.
-- named: 1 if a request named the identifier, 0 if it was only found with a contact of the person.
CREATE TABLE suppressed (
  organization_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  named INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (organization_id, hash)
) WITHOUT ROWID;

-- One row for each erasure. proof: JSON without personal data. completed_at: null while bytes of the person may be left in the file.
CREATE TABLE erasures (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  proof TEXT NOT NULL,
  completed_at TEXT
) WITHOUT ROWID;

CREATE INDEX erasures_pending ON erasures (id) WHERE completed_at IS NULL;
CREATE INDEX erasures_by_organization ON erasures (organization_id, proof ->> 'requested_at', id);

-- Hashes that the steps of an erasure have suppressed, as JSON arrays. The proof takes them over when no contact is left.
CREATE TABLE erasure_steps (
  erasure TEXT NOT NULL,
  step INTEGER NOT NULL,
  hashes TEXT NOT NULL,
  PRIMARY KEY (erasure, step)
) WITHOUT ROWID;
