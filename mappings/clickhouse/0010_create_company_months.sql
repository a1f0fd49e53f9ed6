-- As creative_months, for companies, without money, which reports on companies lack. A page reads a few dozen companies, so the months of
-- a company lie side by side, in small granules. `reached`, `engaged`: campaigns with impressions, and with engagements.
CREATE TABLE IF NOT EXISTS company_months
(
    organization_id LowCardinality(String) CODEC(LZ4),
    date Date CODEC(LZ4),
    build UInt64 CODEC(LZ4),
    company_id String CODEC(LZ4),
    impressions UInt64 CODEC(T64, LZ4),
    clicks UInt64 CODEC(T64, LZ4),
    landing_page_clicks UInt64 CODEC(T64, LZ4),
    engagements UInt64 CODEC(T64, LZ4),
    reactions UInt64 CODEC(T64, LZ4),
    comments UInt64 CODEC(T64, LZ4),
    shares UInt64 CODEC(T64, LZ4),
    follows UInt64 CODEC(T64, LZ4),
    video_views UInt64 CODEC(T64, LZ4),
    video_completions UInt64 CODEC(T64, LZ4),
    leads UInt64 CODEC(T64, LZ4),
    lead_form_opens UInt64 CODEC(T64, LZ4),
    conversions UInt64 CODEC(T64, LZ4),
    first_seen Date CODEC(ZSTD(1)),
    last_seen Date CODEC(ZSTD(1)),
    active Bool CODEC(LZ4),
    reached Array(LowCardinality(String)) CODEC(ZSTD(1)),
    engaged Array(LowCardinality(String)) CODEC(ZSTD(1)),
    mark UInt64 CODEC(ZSTD(1)),
    expires_at DateTime CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(expires_at)
ORDER BY (organization_id, company_id, date, build)
TTL expires_at
SETTINGS index_granularity = 512, min_compress_block_size = 8192, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;
