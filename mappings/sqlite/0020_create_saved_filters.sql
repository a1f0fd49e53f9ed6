-- filter: the filters of a search of the view, as JSON.
CREATE TABLE saved_filters (
  organization_id TEXT NOT NULL,
  view TEXT NOT NULL,
  name TEXT NOT NULL,
  filter TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (organization_id, view, name)
) WITHOUT ROWID;
