-- Deliveries that name a company, sorted for reports on companies, in small granules because a page reads a few dozen of them.
-- `active`: any metric above zero.
CREATE TABLE IF NOT EXISTS company_deliveries
(
    organization_id LowCardinality(String),
    date Date,
    campaign_id LowCardinality(String),
    creative_id LowCardinality(String),
    company_id String,
    ad_spend Decimal(38, 12),
    impressions UInt64,
    clicks UInt64,
    landing_page_clicks UInt64,
    engagements UInt64,
    reactions UInt64,
    comments UInt64,
    shares UInt64,
    follows UInt64,
    video_views UInt64,
    video_completions UInt64,
    leads UInt64,
    lead_form_opens UInt64,
    conversions UInt64,
    conversion_value Decimal(38, 12),
    active Bool,
    version UInt128
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(date)
ORDER BY (organization_id, company_id, date, campaign_id, creative_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1
