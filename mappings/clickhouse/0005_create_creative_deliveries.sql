-- Contract 5.1. Deliveries that name a creative, from which campaigns and creatives are reported. A month at rest is merged to one part,
-- where FINAL costs nothing, unless that would rewrite more than 20 GiB.
-- A row without a campaign, on the first of a month, marks what was inserted last for an organization in that month: its `mark` is random, and
-- the last inserted of equal versions stays. It is in the part of the rows it marks, so both become visible at once.
CREATE TABLE IF NOT EXISTS creative_deliveries
(
    organization_id String CODEC(LZ4),
    date Date CODEC(LZ4),
    campaign_id String CODEC(LZ4),
    creative_id String CODEC(LZ4),
    company_id String CODEC(LZ4),
    ad_spend Decimal(38, 12) CODEC(ZSTD(1)),
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
    conversion_value Decimal(38, 12) CODEC(ZSTD(1)),
    version UInt128 CODEC(ZSTD(1)),
    mark UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(date)
ORDER BY (organization_id, date, campaign_id, creative_id, company_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480
