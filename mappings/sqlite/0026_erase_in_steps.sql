-- What is left of an erasure: JSON { named, related }, null once no contact is left. named: the identifiers of the request.
ALTER TABLE erasures ADD COLUMN work TEXT;

-- Hashes that the steps of an erasure have suppressed, as JSON arrays; the proof takes them in once no contact is left.
CREATE TABLE erasure_steps (
  erasure TEXT NOT NULL,
  step INTEGER NOT NULL,
  hashes TEXT NOT NULL,
  PRIMARY KEY (erasure, step)
) WITHOUT ROWID;

-- Older segments of the text index may hold words of persons whose erasure was said to be complete.
UPDATE erasures SET completed_at = NULL,
  proof = json_set(json_remove(proof, '$.removed.dead_letters'), '$.removed.rejections', 0, '$.completed_at', NULL);

-- Transactions that removed or replaced rows of contact_terms, and those whose traces are out of every segment.
INSERT INTO counters (name, value) VALUES
  ('contact_terms_removals', EXISTS (SELECT 1 FROM contacts) OR EXISTS (SELECT 1 FROM deleted_contacts)),
  ('contact_terms_removals_gone', 0), ('audience_terms_removals', 0), ('audience_terms_removals_gone', 0);

-- An identifier that breaks the rules of identifiers may be an address.
UPDATE rejections SET record = json_set(record, '$.record_id', NULL)
 WHERE record ->> '$.record_id' GLOB '*[^A-Za-z0-9._:-]*';
CREATE INDEX rejections_by_record ON rejections (organization_id, record ->> '$.record_id');

-- The contact that a deleted person had, by salted hashes of what else the contact had, so that an erasure by address finds its id.
CREATE TABLE deleted_identifiers (
  organization INTEGER NOT NULL,
  hash TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (organization, hash, id)
) WITHOUT ROWID;
CREATE INDEX deleted_identifiers_by_id ON deleted_identifiers (organization, id);
