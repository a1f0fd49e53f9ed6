-- Rules of services/search that terms and normal forms were derived by, for contacts, audiences and visits.
-- rebuilt_to: key of the last row that was rebuilt; null when all rows are. tables: version of the tables that classify job titles.
CREATE TABLE derived (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  rebuilt_to INTEGER,
  tables TEXT
) WITHOUT ROWID;
