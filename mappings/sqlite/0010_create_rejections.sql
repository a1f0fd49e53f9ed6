-- Where and why HTTP ingest rejected a record, without the record itself. record: Rejection as JSON.
CREATE TABLE rejections (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  rejected_ms INTEGER NOT NULL,
  record TEXT NOT NULL
);

CREATE INDEX rejections_by_organization ON rejections (organization_id, rejected_ms, id);
CREATE INDEX rejections_by_time ON rejections (rejected_ms, id);
CREATE INDEX rejections_by_record ON rejections (organization_id, record ->> '$.record_id');
-- Reads pages of one stream.
CREATE INDEX rejections_by_stream ON rejections (organization_id, record ->> 'stream', rejected_ms, id);
