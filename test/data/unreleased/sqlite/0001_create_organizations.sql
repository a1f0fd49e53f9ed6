-- Every other table knows an organization by its short key, which also begins every term of the text indexes.
CREATE TABLE organizations (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- How many it has: they are never deleted, and counting a million of them takes long.
  contacts INTEGER NOT NULL DEFAULT 0,
  visits INTEGER NOT NULL DEFAULT 0
);

-- Numbers given out so far: the low bits of positions.
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO counters (name, value) VALUES ('position', 0);
