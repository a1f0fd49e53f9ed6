-- Where and why HTTP ingest rejected a record, in place of the record itself. record: Rejection as JSON.
DROP TABLE dead_letters;
CREATE TABLE rejections (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  rejected_ms INTEGER NOT NULL,
  record TEXT NOT NULL
);

CREATE INDEX rejections_by_organization ON rejections (organization_id, rejected_ms, id);
CREATE INDEX rejections_by_time ON rejections (rejected_ms, id);
