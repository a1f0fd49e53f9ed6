-- Deliveries that name a company, sorted for reports on companies. A page reads one row of each company and month, so granules are small.
-- A granule of a column has 16 to 32 kB; by default ClickHouse decompresses blocks of at least 64 kB for it.
-- `active`: whether any metric is above zero. A row without a company is a mark, as in creative_deliveries.
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
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;

-- As creative_deliveries_mv.
CREATE MATERIALIZED VIEW IF NOT EXISTS company_deliveries_mv TO company_deliveries AS
SELECT
    delivery.organization_id AS organization_id,
    if(is_mark, toStartOfMonth(delivery.date), delivery.date) AS date,
    if(is_mark, '', delivery.campaign_id) AS campaign_id,
    if(is_mark, '', delivery.creative_id) AS creative_id,
    if(is_mark, '', delivery.company_id) AS company_id,
    if(is_mark, toDecimal128(0, 12), delivery.ad_spend) AS ad_spend,
    if(is_mark, 0, delivery.impressions) AS impressions,
    if(is_mark, 0, delivery.clicks) AS clicks,
    if(is_mark, 0, delivery.landing_page_clicks) AS landing_page_clicks,
    if(is_mark, 0, delivery.engagements) AS engagements,
    if(is_mark, 0, delivery.reactions) AS reactions,
    if(is_mark, 0, delivery.comments) AS comments,
    if(is_mark, 0, delivery.shares) AS shares,
    if(is_mark, 0, delivery.follows) AS follows,
    if(is_mark, 0, delivery.video_views) AS video_views,
    if(is_mark, 0, delivery.video_completions) AS video_completions,
    if(is_mark, 0, delivery.leads) AS leads,
    if(is_mark, 0, delivery.lead_form_opens) AS lead_form_opens,
    if(is_mark, 0, delivery.conversions) AS conversions,
    if(is_mark, toDecimal128(0, 12), delivery.conversion_value) AS conversion_value,
    NOT is_mark
        AND (
            delivery.ad_spend > 0
            OR delivery.impressions > 0
            OR delivery.clicks > 0
            OR delivery.landing_page_clicks > 0
            OR delivery.engagements > 0
            OR delivery.reactions > 0
            OR delivery.comments > 0
            OR delivery.shares > 0
            OR delivery.follows > 0
            OR delivery.video_views > 0
            OR delivery.video_completions > 0
            OR delivery.leads > 0
            OR delivery.lead_form_opens > 0
            OR delivery.conversions > 0
            OR delivery.conversion_value > 0
        ) AS active,
    if(is_mark, 0, delivery.version) AS version,
    if(is_mark, rand64(), 0) AS mark
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY organization_id, toStartOfMonth(date)) = 1 AS is_first
    FROM deliveries
    WHERE company_id != ''
) AS delivery
ARRAY JOIN if(delivery.is_first, [false, true], [false]) AS is_mark;
