-- Visits of the records store. Of several records of a visit the first stays: it has the greatest version. On servers each write of visits
-- goes to both stores. In the data folder the follower writes them.
CREATE TABLE IF NOT EXISTS website_visits
(
    organization_id String CODEC(ZSTD(1)),
    visit_id String CODEC(ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    audience_id Nullable(String) CODEC(ZSTD(1)),
    start_url Nullable(String) CODEC(ZSTD(1)),
    country Nullable(String) CODEC(ZSTD(1)),
    country_code Nullable(String) CODEC(ZSTD(1)),
    city Nullable(String) CODEC(ZSTD(1)),
    ip_address Nullable(String) CODEC(ZSTD(1)),
    browser Nullable(String) CODEC(ZSTD(1)),
    browser_version Nullable(String) CODEC(ZSTD(1)),
    platform Nullable(String) CODEC(ZSTD(1)),
    has_recording Nullable(Bool) CODEC(ZSTD(1)),
    intent_score Nullable(Int64) CODEC(ZSTD(1)),
    company_domain Nullable(String) CODEC(ZSTD(1)),
    version UInt128 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY if(toYear(created_at) BETWEEN 2020 AND 2039, toYYYYMM(created_at), 0)
ORDER BY (organization_id, created_at, visit_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;
