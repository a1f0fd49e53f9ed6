CREATE TABLE IF NOT EXISTS campaigns_local ON CLUSTER `main`
(
    organization_id String,
    id String,
    network_a_campaign_id Nullable(String),
    name Nullable(String),
    account_id Nullable(String),
    campaign_group_id Nullable(String),
    campaign_group_name Nullable(String),
    status Nullable(String),
    objective_type Nullable(String),
    format Nullable(String),
    cost_type Nullable(String),
    currency Nullable(String),
    daily_budget Nullable(Decimal(38, 12)),
    total_budget Nullable(Decimal(38, 12)),
    start_date Nullable(String),
    end_date Nullable(String),
    name_key Nullable(String),
    campaign_group_name_key Nullable(String),
    status_key Nullable(String),
    objective_type_key Nullable(String),
    version Int64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/reachline_tables/campaigns', '{replica}', version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS campaigns ON CLUSTER `main` AS campaigns_local
ENGINE = Distributed('main', 'reachline_tables', 'campaigns_local', cityHash64(organization_id));

CREATE TABLE IF NOT EXISTS creatives_local ON CLUSTER `main`
(
    organization_id String,
    id String,
    campaign_id String,
    network_a_creative_id Nullable(String),
    name Nullable(String),
    status Nullable(String),
    review_status Nullable(String),
    format Nullable(String),
    headline Nullable(String),
    landing_page_url Nullable(String),
    image_url Nullable(String),
    name_key Nullable(String),
    headline_key Nullable(String),
    status_key Nullable(String),
    version Int64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/reachline_tables/creatives', '{replica}', version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS creatives ON CLUSTER `main` AS creatives_local
ENGINE = Distributed('main', 'reachline_tables', 'creatives_local', cityHash64(organization_id));

CREATE TABLE IF NOT EXISTS companies_local ON CLUSTER `main`
(
    organization_id String,
    id String,
    network_a_company_id Nullable(String),
    name Nullable(String),
    domain Nullable(String),
    network_a_url Nullable(String),
    industry Nullable(String),
    employee_range Nullable(String),
    country Nullable(String),
    logo_url Nullable(String),
    name_key Nullable(String),
    domain_key Nullable(String),
    version Int64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/reachline_tables/companies', '{replica}', version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS companies ON CLUSTER `main` AS companies_local
ENGINE = Distributed('main', 'reachline_tables', 'companies_local', cityHash64(organization_id));

CREATE TABLE IF NOT EXISTS deliveries_local ON CLUSTER `main`
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
    version Int64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/reachline_tables/deliveries', '{replica}', version)
PARTITION BY toYYYYMM(date)
ORDER BY (organization_id, date, campaign_id, creative_id, company_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS deliveries ON CLUSTER `main` AS deliveries_local
ENGINE = Distributed('main', 'reachline_tables', 'deliveries_local', cityHash64(organization_id));

CREATE TABLE IF NOT EXISTS company_deliveries_local ON CLUSTER `main`
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
    version Int64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/reachline_tables/company_deliveries', '{replica}', version)
PARTITION BY toYYYYMM(date)
ORDER BY (organization_id, company_id, date, campaign_id, creative_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS company_deliveries ON CLUSTER `main` AS company_deliveries_local
ENGINE = Distributed('main', 'reachline_tables', 'company_deliveries_local', cityHash64(organization_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS feed_company_deliveries ON CLUSTER `main` TO company_deliveries_local AS
SELECT
    organization_id,
    date,
    campaign_id,
    creative_id,
    company_id,
    ad_spend,
    impressions,
    clicks,
    landing_page_clicks,
    engagements,
    reactions,
    comments,
    shares,
    follows,
    video_views,
    video_completions,
    leads,
    lead_form_opens,
    conversions,
    conversion_value,
    ad_spend > 0
        OR impressions > 0
        OR clicks > 0
        OR landing_page_clicks > 0
        OR engagements > 0
        OR reactions > 0
        OR comments > 0
        OR shares > 0
        OR follows > 0
        OR video_views > 0
        OR video_completions > 0
        OR leads > 0
        OR lead_form_opens > 0
        OR conversions > 0
        OR conversion_value > 0 AS active,
    version
FROM deliveries_local
WHERE company_id != '';

CREATE TABLE IF NOT EXISTS delivered_local ON CLUSTER `main`
(
    organization_id String,
    campaign_id String,
    creative_id String,
    first_date SimpleAggregateFunction(min, Date),
    last_date SimpleAggregateFunction(max, Date)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/reachline_tables/delivered', '{replica}')
ORDER BY (organization_id, campaign_id, creative_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS delivered ON CLUSTER `main` AS delivered_local
ENGINE = Distributed('main', 'reachline_tables', 'delivered_local', cityHash64(organization_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS feed_delivered ON CLUSTER `main` TO delivered_local AS
SELECT
    organization_id,
    campaign_id,
    creative_id,
    min(date) AS first_date,
    max(date) AS last_date
FROM deliveries_local
GROUP BY organization_id, campaign_id, creative_id;
