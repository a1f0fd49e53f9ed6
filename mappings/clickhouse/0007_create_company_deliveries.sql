-- Deliveries that name a company, sorted for reports on companies, in small granules because a page reads one of each company and month.
-- A granule of a column has 16 to 32 kB; by default, blocks of at least 64 kB are decompressed for it.
-- `active`: any metric above zero.
-- A row without a company is a mark, as in creative_deliveries.
CREATE TABLE IF NOT EXISTS company_deliveries
(
    organization_id LowCardinality(String) CODEC(ZSTD(1)),
    date Date CODEC(ZSTD(1)),
    campaign_id LowCardinality(String) CODEC(ZSTD(1)),
    creative_id LowCardinality(String) CODEC(ZSTD(1)),
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
    active Bool CODEC(ZSTD(1)),
    version UInt128 CODEC(ZSTD(1)),
    mark UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(date)
ORDER BY (organization_id, company_id, date, campaign_id, creative_id)
SETTINGS index_granularity = 2048, min_compress_block_size = 16384, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480
