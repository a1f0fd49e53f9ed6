-- Rejected records of HTTP ingest (decision 0017). record: StoredDeadLetter as JSON; bytes: its length.
CREATE TABLE dead_letters (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  accepted_ms INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  record TEXT NOT NULL
);

CREATE INDEX dead_letters_by_organization ON dead_letters (organization_id, accepted_ms, sequence, id, bytes);
CREATE INDEX dead_letters_by_time ON dead_letters (accepted_ms, sequence, id);
