-- Sums of a month, whose first day is `date`, from its rows with FINAL. The rows of a build never change and are read only as rollups says; one
-- without is left over.
-- The row without a campaign has the mark that was read together with the deliveries.
CREATE TABLE IF NOT EXISTS creative_months
(
    organization_id String CODEC(ZSTD(1)),
    date Date CODEC(ZSTD(1)),
    build UInt64 CODEC(ZSTD(1)),
    campaign_id String CODEC(ZSTD(1)),
    creative_id String CODEC(ZSTD(1)),
    ad_spend Decimal(76, 12) CODEC(ZSTD(1)),
    impressions UInt64 CODEC(ZSTD(1)),
    clicks UInt64 CODEC(ZSTD(1)),
    landing_page_clicks UInt64 CODEC(ZSTD(1)),
    engagements UInt64 CODEC(ZSTD(1)),
    reactions UInt64 CODEC(ZSTD(1)),
    comments UInt64 CODEC(ZSTD(1)),
    shares UInt64 CODEC(ZSTD(1)),
    follows UInt64 CODEC(ZSTD(1)),
    video_views UInt64 CODEC(ZSTD(1)),
    video_completions UInt64 CODEC(ZSTD(1)),
    leads UInt64 CODEC(ZSTD(1)),
    lead_form_opens UInt64 CODEC(ZSTD(1)),
    conversions UInt64 CODEC(ZSTD(1)),
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
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480
