-- Erasures are jobs: what is left of one is in the table of jobs, under the id of the erasure, until no contact is left.
INSERT OR IGNORE INTO organizations (id) SELECT organization_id FROM erasures WHERE work IS NOT NULL;

INSERT INTO jobs (id, kind, organization, state, began_at)
SELECT e.id, 'erase-contacts', o.key, e.work, CAST(unixepoch(e.proof ->> 'requested_at') AS INTEGER) * 1000
  FROM erasures e JOIN organizations o ON o.id = e.organization_id WHERE e.work IS NOT NULL;

ALTER TABLE erasures DROP COLUMN work;
