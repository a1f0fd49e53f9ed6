-- Names the build that holds the sums of a month, and the mark of the deliveries that the build read. The build is used only while the
-- deliveries have this mark.
CREATE TABLE IF NOT EXISTS rollups
(
    organization_id String,
    source String,
    month Date,
    build UInt64,
    mark UInt64,
    built_at DateTime,
    expires_at DateTime
)
ENGINE = ReplacingMergeTree(built_at)
ORDER BY (organization_id, source, month)
TTL expires_at
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
