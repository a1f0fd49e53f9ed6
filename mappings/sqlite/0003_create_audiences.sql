-- An audience that only memberships name has a key, and neither times nor a body yet.
-- record_order: order of the last record (contract 6.2, recordOrder). body: the Audience as JSON.
CREATE TABLE audiences (
  key INTEGER PRIMARY KEY,
  organization INTEGER NOT NULL,
  id TEXT NOT NULL,
  position INTEGER,
  created_ms INTEGER,
  record_order TEXT,
  body TEXT,
  updated_ms INTEGER
);

CREATE UNIQUE INDEX audiences_by_id ON audiences (organization, id);

CREATE INDEX audiences_by_position ON audiences (organization, position, created_ms, id) WHERE position IS NOT NULL;

-- As contact_terms.
CREATE VIRTUAL TABLE audience_terms USING fts5 (
  name, tracking_utm_value, description, exact,
  content = '', detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- position: the position of the contact. Its body has the ids of its audiences.
CREATE TABLE memberships (
  audience INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (audience, position)
) WITHOUT ROWID;
