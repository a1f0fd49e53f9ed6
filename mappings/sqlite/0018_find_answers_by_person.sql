-- The persons that a kept answer shows, so that an erasure reads their answers only. An empty identifier: of an answer kept before.
CREATE TABLE answer_identifiers (
  organization_id TEXT NOT NULL,
  identifier TEXT NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (organization_id, identifier, route, key)
) WITHOUT ROWID;

CREATE INDEX answer_identifiers_by_key ON answer_identifiers (organization_id, route, key);

INSERT INTO answer_identifiers SELECT organization_id, '', route, key FROM idempotency;

CREATE TRIGGER delete_answer_identifiers AFTER DELETE ON idempotency BEGIN
  DELETE FROM answer_identifiers
   WHERE organization_id = old.organization_id AND route = old.route AND key = old.key;
END;
