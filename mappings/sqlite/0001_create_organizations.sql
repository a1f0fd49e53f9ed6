-- Other tables name an organization by its short key. Every term of the text indexes begins with this key.
CREATE TABLE organizations (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- Numbers of its contacts and visits, because counting a million rows takes long.
  contacts INTEGER NOT NULL DEFAULT 0,
  visits INTEGER NOT NULL DEFAULT 0,
  -- When the newest record of a stream was accepted, in milliseconds since 1970; null before the first.
  contacts_accepted_ms INTEGER,
  audiences_accepted_ms INTEGER,
  visits_accepted_ms INTEGER
);

-- position: numbers given out so far, the low bits of positions.
-- *_removals: transactions that removed or replaced rows of a text index. *_removals_gone: those that left no trace in any segment.
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO counters (name, value) VALUES
  ('position', 0),
  ('contact_terms_removals', 0), ('contact_terms_removals_gone', 0),
  ('audience_terms_removals', 0), ('audience_terms_removals_gone', 0);
