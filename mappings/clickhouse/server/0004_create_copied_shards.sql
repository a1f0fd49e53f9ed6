-- How far each shard of an index of the search store is copied, and up to where both were found to hold the same records. The uuid changes
-- when the index is rebuilt; it is empty once the index is gone. The organization is always empty, which keeps the rows on one shard
-- of a cluster, and away from analysts.
CREATE TABLE IF NOT EXISTS copied_shards
(
    organization_id String,
    source String,
    shard UInt32,
    uuid String,
    seq_no Int64,
    compared_seq_no Int64,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, source, shard)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
