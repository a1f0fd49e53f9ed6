-- Days with deliveries of any breakdown.
CREATE TABLE IF NOT EXISTS delivery_days
(
    organization_id String,
    date Date
)
ENGINE = ReplacingMergeTree
ORDER BY (organization_id, date)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
