-- Audiences of the records store. Whenever one changes, the follower fills a new table, which takes this name when it is whole.
DROP TABLE IF EXISTS audiences;

CREATE TABLE IF NOT EXISTS audiences
(
    organization_id String CODEC(ZSTD(1)),
    audience_id String CODEC(ZSTD(1)),
    name String CODEC(ZSTD(1)),
    description Nullable(String) CODEC(ZSTD(1)),
    network_a Bool CODEC(ZSTD(1)),
    network_b Bool CODEC(ZSTD(1)),
    network_c Bool CODEC(ZSTD(1)),
    tracking_utm_value Nullable(String) CODEC(ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (organization_id, audience_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;
