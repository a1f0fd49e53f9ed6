-- An organization without a row is not metered.
CREATE TABLE credits (
  organization_id TEXT PRIMARY KEY,
  balance INTEGER NOT NULL
) WITHOUT ROWID;
