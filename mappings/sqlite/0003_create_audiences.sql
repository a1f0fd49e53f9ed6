-- An audience that only memberships name has a key and no body yet.
-- body: the Audience as JSON. record_order: of the last record (contract 6.2, recordOrder).
CREATE TABLE audiences (
  key INTEGER PRIMARY KEY,
  organization INTEGER NOT NULL,
  id TEXT NOT NULL,
  position INTEGER,
  created_ms INTEGER,
  record_order TEXT,
  body TEXT
);

CREATE UNIQUE INDEX audiences_by_id ON audiences (organization, id);

CREATE INDEX audiences_by_position ON audiences (organization, position, created_ms, id) WHERE position IS NOT NULL;

CREATE VIRTUAL TABLE audience_terms USING fts5 (
  name, tracking_utm_value, description, exact,
  content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- position is the contact's. The ids of a contact's audiences are in its row.
CREATE TABLE memberships (
  audience INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (audience, position)
) WITHOUT ROWID;
