-- ancestors: JSON array of ids, the key that made this one first; empty for keys of the command line and from before.
-- descendants_revoked_at: since when no key that descends from this one works.
ALTER TABLE keys ADD COLUMN ancestors TEXT NOT NULL DEFAULT '[]';
ALTER TABLE keys ADD COLUMN descendants_revoked_at TEXT;

-- Pages and counts of lists. The command line makes a key per run and revokes it at the end; those are not listed.
CREATE INDEX keys_by_organization ON keys (organization_id, created_at, id, name, expires_at)
  WHERE name IS NOT 'one run of reachline' OR revoked_at IS NULL;
CREATE INDEX keys_by_time ON keys (created_at, id, name, expires_at)
  WHERE name IS NOT 'one run of reachline' OR revoked_at IS NULL;
-- By the key that made them.
CREATE INDEX keys_by_maker ON keys (ancestors ->> 0, id);
