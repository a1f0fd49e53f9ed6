-- Sums of a month, read from its deliveries with FINAL. `date` is the first day of the month.
-- Rows of a build never change. Only the build that `rollups` names is read; other builds are left over.
-- The row without a campaign has the mark that was read together with the deliveries.
CREATE TABLE IF NOT EXISTS creative_months
(
    organization_id String CODEC(LZ4),
    date Date CODEC(LZ4),
    build UInt64 CODEC(LZ4),
    campaign_id String CODEC(LZ4),
    creative_id String CODEC(LZ4),
    ad_spend Decimal(76, 12) CODEC(ZSTD(1)),
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
    conversion_value Decimal(76, 12) CODEC(ZSTD(1)),
    mark UInt64 CODEC(ZSTD(1)),
    expires_at DateTime CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toDate(expires_at)
ORDER BY (organization_id, build, campaign_id, creative_id)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;
