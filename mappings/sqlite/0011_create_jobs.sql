-- Long work that goes on in steps, each with its own commit. A row stays until the work is done; the next start continues it.
-- state: JSON, what is left and how far the work is. began_at: milliseconds since 1970.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  organization INTEGER NOT NULL,
  state TEXT NOT NULL,
  began_at INTEGER NOT NULL
);

CREATE INDEX jobs_by_organization ON jobs (organization, kind, began_at);
