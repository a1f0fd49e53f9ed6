-- Days with deliveries of any breakdown; when they were inserted last, and how many rows were inserted, restatements among them.
CREATE TABLE IF NOT EXISTS delivery_days
(
    organization_id String,
    date Date,
    touched_at SimpleAggregateFunction(max, DateTime),
    creative_rows SimpleAggregateFunction(sum, UInt64),
    company_rows SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (organization_id, date)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
