-- Contract 5.1. Deliveries that name a creative; campaigns and creatives are reported from them. A month at rest is merged to one part,
-- where FINAL costs nothing, unless the merge would rewrite more than 20 GiB.
-- A row without a campaign, on the first of a month, marks the last insert for an organization in that month. Its `mark` is random, and of
-- equal versions the last inserted row stays. The mark is in the part of the rows that it marks, so both become visible at once.
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
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;

-- Copies row by row and never sums, because a restated row replaces its predecessor. The first row of each organization and month adds the mark.
CREATE MATERIALIZED VIEW IF NOT EXISTS creative_deliveries_mv TO creative_deliveries AS
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
    if(is_mark, 0, delivery.version) AS version,
    if(is_mark, rand64(), 0) AS mark
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY organization_id, toStartOfMonth(date)) = 1 AS is_first
    FROM deliveries
    WHERE creative_id != ''
) AS delivery
ARRAY JOIN if(delivery.is_first, [false, true], [false]) AS is_mark;
