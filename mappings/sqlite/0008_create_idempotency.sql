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

-- Persons that a kept outcome shows, so that an erasure reads the outcomes of its person only.
CREATE TABLE answer_identifiers (
  organization_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (organization_id, identifier, route, key)
) WITHOUT ROWID;

CREATE INDEX answer_identifiers_by_key ON answer_identifiers (organization_id, route, key);

CREATE TRIGGER delete_answer_identifiers AFTER DELETE ON idempotency BEGIN
  DELETE FROM answer_identifiers
   WHERE organization_id = old.organization_id AND route = old.route AND key = old.key;
END;
