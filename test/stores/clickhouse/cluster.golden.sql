CREATE TABLE IF NOT EXISTS campaigns ON CLUSTER `main`
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
    version UInt128
)
ENGINE = ReplicatedReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS creatives ON CLUSTER `main`
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
    version UInt128
)
ENGINE = ReplicatedReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS companies ON CLUSTER `main`
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
    version UInt128
)
ENGINE = ReplicatedReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS index_granularity = 512, min_bytes_for_wide_part = 104857600, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS deliveries ON CLUSTER `main`
(
    organization_id String,
    date Date,
    campaign_id String,
    creative_id String,
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
    version UInt128
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS creative_deliveries ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(date)
ORDER BY (organization_id, date, campaign_id, creative_id, company_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;

CREATE MATERIALIZED VIEW IF NOT EXISTS creative_deliveries_mv ON CLUSTER `main` TO creative_deliveries AS
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

CREATE TABLE IF NOT EXISTS company_deliveries ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(date)
ORDER BY (organization_id, company_id, date, campaign_id, creative_id)
SETTINGS index_granularity = 2048, min_compress_block_size = 16384, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;

CREATE MATERIALIZED VIEW IF NOT EXISTS company_deliveries_mv ON CLUSTER `main` TO company_deliveries AS
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

CREATE TABLE IF NOT EXISTS delivery_names ON CLUSTER `main`
(
    organization_id String,
    campaign_id String,
    creative_id String
)
ENGINE = ReplicatedReplacingMergeTree
ORDER BY (organization_id, campaign_id, creative_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_names_mv ON CLUSTER `main` TO delivery_names AS
SELECT DISTINCT
    organization_id,
    campaign_id,
    creative_id
FROM deliveries;

CREATE TABLE IF NOT EXISTS delivery_days ON CLUSTER `main`
(
    organization_id String,
    date Date,
    touched_at SimpleAggregateFunction(max, DateTime),
    creative_rows SimpleAggregateFunction(sum, UInt64),
    company_rows SimpleAggregateFunction(sum, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree
ORDER BY (organization_id, date)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_days_mv ON CLUSTER `main` TO delivery_days AS
SELECT
    organization_id,
    date,
    now() AS touched_at,
    countIf(creative_id != '') AS creative_rows,
    countIf(company_id != '') AS company_rows
FROM deliveries
GROUP BY organization_id, date;

CREATE DATABASE IF NOT EXISTS reachline ON CLUSTER `main`;

CREATE VIEW IF NOT EXISTS reachline.campaigns ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    campaign_id String COMMENT 'Id of the campaign',
    network_a_campaign_id Nullable(String) COMMENT 'Id at the network',
    name Nullable(String) COMMENT 'Name',
    account_id Nullable(String) COMMENT 'Advertising account',
    campaign_group_id Nullable(String) COMMENT 'Id of the group',
    campaign_group_name Nullable(String) COMMENT 'Name of the group',
    status Nullable(String) COMMENT 'Such as ACTIVE, PAUSED, COMPLETED',
    objective_type Nullable(String) COMMENT 'Such as LEAD_GENERATION',
    format Nullable(String) COMMENT 'Format of its creatives',
    cost_type Nullable(String) COMMENT 'What is paid for, such as CPC',
    currency Nullable(String) COMMENT 'ISO 4217 code of every amount of money',
    daily_budget Nullable(Decimal(38, 12)) COMMENT 'In the currency',
    total_budget Nullable(Decimal(38, 12)) COMMENT 'In the currency',
    start_date Nullable(Date32) COMMENT 'First day',
    end_date Nullable(Date32) COMMENT 'Last day',
    updated_at DateTime64(3, 'UTC') COMMENT 'When the network reported this state'
)
AS SELECT
    organization_id,
    id AS campaign_id,
    network_a_campaign_id,
    name,
    account_id,
    campaign_group_id,
    campaign_group_name,
    status,
    objective_type,
    format,
    cost_type,
    currency,
    daily_budget,
    total_budget,
    toDate32OrNull(start_date) AS start_date,
    toDate32OrNull(end_date) AS end_date,
    fromUnixTimestamp64Milli(toInt64(intDiv(version, toUInt128('100000000000000000000000'))) - 1100000000000000, 'UTC') AS updated_at
FROM campaigns FINAL
COMMENT 'The campaigns as last reported, one row each';

CREATE VIEW IF NOT EXISTS reachline.creatives ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    creative_id String COMMENT 'Id of the creative',
    campaign_id String COMMENT 'Campaign it belongs to',
    network_a_creative_id Nullable(String) COMMENT 'Id at the network',
    name Nullable(String) COMMENT 'Name',
    status Nullable(String) COMMENT 'Such as ACTIVE, PAUSED',
    review_status Nullable(String) COMMENT 'What the network decided',
    format Nullable(String) COMMENT 'Such as VIDEO',
    headline Nullable(String) COMMENT 'Headline',
    landing_page_url Nullable(String) COMMENT 'Where clicks lead',
    image_url Nullable(String) COMMENT 'Picture',
    updated_at DateTime64(3, 'UTC') COMMENT 'When the network reported this state'
)
AS SELECT
    organization_id,
    id AS creative_id,
    campaign_id,
    network_a_creative_id,
    name,
    status,
    review_status,
    format,
    headline,
    landing_page_url,
    image_url,
    fromUnixTimestamp64Milli(toInt64(intDiv(version, toUInt128('100000000000000000000000'))) - 1100000000000000, 'UTC') AS updated_at
FROM creatives FINAL
COMMENT 'The creatives as last reported, one row each';

CREATE VIEW IF NOT EXISTS reachline.companies ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    company_id String COMMENT 'Id of the company',
    network_a_company_id Nullable(String) COMMENT 'Id at the network',
    name Nullable(String) COMMENT 'Name',
    domain Nullable(String) COMMENT 'Lower case, without www.',
    network_a_url Nullable(String) COMMENT 'Page at the network',
    industry Nullable(String) COMMENT 'Industry',
    employee_range Nullable(String) COMMENT 'Number of employees, such as 51-200',
    country Nullable(String) COMMENT 'Country',
    logo_url Nullable(String) COMMENT 'Logo',
    updated_at DateTime64(3, 'UTC') COMMENT 'When the network reported this state'
)
AS SELECT
    organization_id,
    id AS company_id,
    network_a_company_id,
    name,
    domain,
    network_a_url,
    industry,
    employee_range,
    country,
    logo_url,
    fromUnixTimestamp64Milli(toInt64(intDiv(version, toUInt128('100000000000000000000000'))) - 1100000000000000, 'UTC') AS updated_at
FROM companies FINAL
COMMENT 'The companies as last reported, one row each';

CREATE VIEW IF NOT EXISTS reachline.campaign_daily ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day, in UTC',
    campaign_id String COMMENT 'Campaign',
    ad_spend Decimal(38, 12) COMMENT 'Spent, in the currency of the campaign',
    impressions UInt64 COMMENT 'Times shown',
    clicks UInt64 COMMENT 'Clicks of any kind',
    landing_page_clicks UInt64 COMMENT 'Clicks to the landing page',
    engagements UInt64 COMMENT 'Interactions of any kind',
    reactions UInt64 COMMENT 'Reactions',
    comments UInt64 COMMENT 'Comments',
    shares UInt64 COMMENT 'Shares',
    follows UInt64 COMMENT 'Follows',
    video_views UInt64 COMMENT 'Videos begun',
    video_completions UInt64 COMMENT 'Videos seen to the end',
    leads UInt64 COMMENT 'Forms sent',
    lead_form_opens UInt64 COMMENT 'Forms opened',
    conversions UInt64 COMMENT 'Conversions',
    conversion_value Decimal(38, 12) COMMENT 'Value of conversions, in the currency of the campaign'
)
AS SELECT
    organization_id,
    date,
    campaign_id,
    toDecimal128(sum(toDecimal256(day.ad_spend, 12)), 12) AS ad_spend,
    sum(day.impressions) AS impressions,
    sum(day.clicks) AS clicks,
    sum(day.landing_page_clicks) AS landing_page_clicks,
    sum(day.engagements) AS engagements,
    sum(day.reactions) AS reactions,
    sum(day.comments) AS comments,
    sum(day.shares) AS shares,
    sum(day.follows) AS follows,
    sum(day.video_views) AS video_views,
    sum(day.video_completions) AS video_completions,
    sum(day.leads) AS leads,
    sum(day.lead_form_opens) AS lead_form_opens,
    sum(day.conversions) AS conversions,
    toDecimal128(sum(toDecimal256(day.conversion_value, 12)), 12) AS conversion_value
FROM creative_deliveries AS day FINAL
WHERE campaign_id != ''
GROUP BY organization_id, date, campaign_id
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Figures of each campaign and day, restatements resolved; the sum of its creatives';

CREATE VIEW IF NOT EXISTS reachline.creative_daily ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day, in UTC',
    campaign_id String COMMENT 'Campaign',
    creative_id String COMMENT 'Creative',
    ad_spend Decimal(38, 12) COMMENT 'Spent, in the currency of the campaign',
    impressions UInt64 COMMENT 'Times shown',
    clicks UInt64 COMMENT 'Clicks of any kind',
    landing_page_clicks UInt64 COMMENT 'Clicks to the landing page',
    engagements UInt64 COMMENT 'Interactions of any kind',
    reactions UInt64 COMMENT 'Reactions',
    comments UInt64 COMMENT 'Comments',
    shares UInt64 COMMENT 'Shares',
    follows UInt64 COMMENT 'Follows',
    video_views UInt64 COMMENT 'Videos begun',
    video_completions UInt64 COMMENT 'Videos seen to the end',
    leads UInt64 COMMENT 'Forms sent',
    lead_form_opens UInt64 COMMENT 'Forms opened',
    conversions UInt64 COMMENT 'Conversions',
    conversion_value Decimal(38, 12) COMMENT 'Value of conversions, in the currency of the campaign'
)
AS SELECT
    organization_id,
    date,
    campaign_id,
    creative_id,
    toDecimal128(sum(toDecimal256(day.ad_spend, 12)), 12) AS ad_spend,
    sum(day.impressions) AS impressions,
    sum(day.clicks) AS clicks,
    sum(day.landing_page_clicks) AS landing_page_clicks,
    sum(day.engagements) AS engagements,
    sum(day.reactions) AS reactions,
    sum(day.comments) AS comments,
    sum(day.shares) AS shares,
    sum(day.follows) AS follows,
    sum(day.video_views) AS video_views,
    sum(day.video_completions) AS video_completions,
    sum(day.leads) AS leads,
    sum(day.lead_form_opens) AS lead_form_opens,
    sum(day.conversions) AS conversions,
    toDecimal128(sum(toDecimal256(day.conversion_value, 12)), 12) AS conversion_value
FROM creative_deliveries AS day FINAL
WHERE campaign_id != ''
GROUP BY organization_id, date, campaign_id, creative_id
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Figures of each creative and day, restatements resolved';

CREATE VIEW IF NOT EXISTS reachline.company_daily ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day, in UTC',
    company_id String COMMENT 'Company that was reached',
    campaign_id String COMMENT 'Campaign',
    impressions UInt64 COMMENT 'Times shown',
    clicks UInt64 COMMENT 'Clicks of any kind',
    landing_page_clicks UInt64 COMMENT 'Clicks to the landing page',
    engagements UInt64 COMMENT 'Interactions of any kind',
    reactions UInt64 COMMENT 'Reactions',
    comments UInt64 COMMENT 'Comments',
    shares UInt64 COMMENT 'Shares',
    follows UInt64 COMMENT 'Follows',
    video_views UInt64 COMMENT 'Videos begun',
    video_completions UInt64 COMMENT 'Videos seen to the end',
    leads UInt64 COMMENT 'Forms sent',
    lead_form_opens UInt64 COMMENT 'Forms opened',
    conversions UInt64 COMMENT 'Conversions'
)
AS SELECT
    organization_id,
    date,
    company_id,
    campaign_id,
    sum(day.impressions) AS impressions,
    sum(day.clicks) AS clicks,
    sum(day.landing_page_clicks) AS landing_page_clicks,
    sum(day.engagements) AS engagements,
    sum(day.reactions) AS reactions,
    sum(day.comments) AS comments,
    sum(day.shares) AS shares,
    sum(day.follows) AS follows,
    sum(day.video_views) AS video_views,
    sum(day.video_completions) AS video_completions,
    sum(day.leads) AS leads,
    sum(day.lead_form_opens) AS lead_form_opens,
    sum(day.conversions) AS conversions
FROM company_deliveries AS day FINAL
WHERE company_id != ''
GROUP BY organization_id, date, company_id, campaign_id
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Figures of each company, campaign and day, restatements resolved; the network reports them apart from those of creatives';

CREATE TABLE IF NOT EXISTS creative_months ON CLUSTER `main`
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
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(expires_at)
ORDER BY (organization_id, build, campaign_id, creative_id)
TTL expires_at
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;

CREATE TABLE IF NOT EXISTS company_months ON CLUSTER `main`
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
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(expires_at)
ORDER BY (organization_id, company_id, date, build)
TTL expires_at
SETTINGS index_granularity = 512, min_compress_block_size = 8192, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1,
    min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1,
    enable_max_bytes_limit_for_min_age_to_force_merge = 1, max_bytes_to_merge_at_max_space_in_pool = 21474836480;

CREATE TABLE IF NOT EXISTS rollups ON CLUSTER `main`
(
    organization_id String,
    source String,
    month Date,
    build UInt64,
    mark UInt64,
    built_at DateTime,
    expires_at DateTime
)
ENGINE = ReplicatedReplacingMergeTree(built_at)
ORDER BY (organization_id, source, month)
TTL expires_at
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS contacts ON CLUSTER `main`
(
    organization_id String CODEC(ZSTD(1)),
    contact_id String CODEC(ZSTD(1)),
    company_id Nullable(String) CODEC(ZSTD(1)),
    first_name Nullable(String) CODEC(ZSTD(1)),
    last_name Nullable(String) CODEC(ZSTD(1)),
    work_emails Array(String) CODEC(ZSTD(1)),
    personal_emails Array(String) CODEC(ZSTD(1)),
    phones Array(String) CODEC(ZSTD(1)),
    network_a_url Nullable(String) CODEC(ZSTD(1)),
    job_title Nullable(String) CODEC(ZSTD(1)),
    functional_area Nullable(String) CODEC(ZSTD(1)),
    company_name Nullable(String) CODEC(ZSTD(1)),
    company_network_a_url Nullable(String) CODEC(ZSTD(1)),
    company_domain Nullable(String) CODEC(ZSTD(1)),
    company_country Nullable(String) CODEC(ZSTD(1)),
    company_industry Nullable(String) CODEC(ZSTD(1)),
    city Nullable(String) CODEC(ZSTD(1)),
    state_region Nullable(String) CODEC(ZSTD(1)),
    country Nullable(String) CODEC(ZSTD(1)),
    postal_code Nullable(String) CODEC(ZSTD(1)),
    age Nullable(Int32) CODEC(ZSTD(1)),
    dob Nullable(Date32) CODEC(ZSTD(1)),
    year_of_birth Nullable(Int32) CODEC(ZSTD(1)),
    gender Nullable(String) CODEC(ZSTD(1)),
    person_image_url Nullable(String) CODEC(ZSTD(1)),
    company_image_url Nullable(String) CODEC(ZSTD(1)),
    audience_ids Array(String) CODEC(ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    updated_at DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree
ORDER BY (organization_id, contact_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS audiences ON CLUSTER `main`
(
    organization_id String CODEC(ZSTD(1)),
    audience_id String CODEC(ZSTD(1)),
    name String CODEC(ZSTD(1)),
    description Nullable(String) CODEC(ZSTD(1)),
    network_a Bool CODEC(ZSTD(1)),
    network_b Bool CODEC(ZSTD(1)),
    network_c Bool CODEC(ZSTD(1)),
    tracking_utm_value Nullable(String) CODEC(ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree
ORDER BY (organization_id, audience_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS website_visits ON CLUSTER `main`
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
    version UInt128 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY if(toYear(created_at) BETWEEN 2020 AND 2039, toYYYYMM(created_at), 0)
ORDER BY (organization_id, created_at, visit_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;

CREATE VIEW IF NOT EXISTS reachline.contacts ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    contact_id String COMMENT 'Id of the contact',
    company_id Nullable(String) COMMENT 'The same for one company domain; not the id of reachline.companies',
    first_name Nullable(String) COMMENT 'First name',
    last_name Nullable(String) COMMENT 'Last name',
    work_emails Array(String) COMMENT 'Work email addresses, kept in lower case',
    personal_emails Array(String) COMMENT 'Personal email addresses, kept in lower case',
    phones Array(String) COMMENT 'Phone numbers as written',
    network_a_url Nullable(String) COMMENT 'Address of the person\'s profile on network_a',
    job_title Nullable(String) COMMENT 'Job title',
    functional_area Nullable(String) COMMENT 'Department or function the person works in',
    company_name Nullable(String) COMMENT 'Name of the company the person works for',
    company_network_a_url Nullable(String) COMMENT 'Address of the company page on network_a',
    company_domain Nullable(String) COMMENT 'Domain of that company',
    company_country Nullable(String) COMMENT 'Country of the company\'s seat',
    company_industry Nullable(String) COMMENT 'Industry of the company',
    city Nullable(String) COMMENT 'City',
    state_region Nullable(String) COMMENT 'State or region',
    country Nullable(String) COMMENT 'Country: a name or an ISO 3166 code',
    postal_code Nullable(String) COMMENT 'Postal code',
    age Nullable(Int32) COMMENT 'Age in years',
    dob Nullable(Date32) COMMENT 'Date of birth',
    year_of_birth Nullable(Int32) COMMENT 'Year of birth',
    gender Nullable(String) COMMENT 'Gender as recorded',
    person_image_url Nullable(String) COMMENT 'Address of a portrait',
    company_image_url Nullable(String) COMMENT 'Address of the company logo',
    audience_ids Array(String) COMMENT 'Audiences the contact is a member of, ascending',
    created_at DateTime64(3, 'UTC') COMMENT 'When the contact was first recorded',
    updated_at DateTime64(3, 'UTC') COMMENT 'When the contact last changed'
)
AS SELECT
    organization_id,
    contact_id,
    company_id,
    first_name,
    last_name,
    work_emails,
    personal_emails,
    phones,
    network_a_url,
    job_title,
    functional_area,
    company_name,
    company_network_a_url,
    company_domain,
    company_country,
    company_industry,
    city,
    state_region,
    country,
    postal_code,
    age,
    dob,
    year_of_birth,
    gender,
    person_image_url,
    company_image_url,
    audience_ids,
    created_at,
    updated_at
FROM contacts
COMMENT 'The contacts, one row each';

CREATE VIEW IF NOT EXISTS reachline.audiences ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    audience_id String COMMENT 'Id of the audience',
    name String COMMENT 'Name',
    description Nullable(String) COMMENT 'Description',
    network_a Bool COMMENT 'Whether it is used on network_a',
    network_b Bool COMMENT 'Whether it is used on network_b',
    network_c Bool COMMENT 'Whether it is used on network_c',
    tracking_utm_value Nullable(String) COMMENT 'UTM value that marks its visits',
    created_at DateTime64(3, 'UTC') COMMENT 'When the audience was first recorded'
)
AS SELECT
    organization_id,
    audience_id,
    name,
    description,
    network_a,
    network_b,
    network_c,
    tracking_utm_value,
    created_at
FROM audiences
COMMENT 'The audiences, one row each';

CREATE VIEW IF NOT EXISTS reachline.memberships ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    audience_id String COMMENT 'Audience',
    contact_id String COMMENT 'Contact'
)
AS SELECT
    organization_id,
    member_of AS audience_id,
    contact_id
FROM contacts
ARRAY JOIN audience_ids AS member_of
COMMENT 'A row for each audience of each contact';

CREATE VIEW IF NOT EXISTS reachline.website_visits ON CLUSTER `main`
(
    organization_id String COMMENT 'Organization the row belongs to',
    visit_id String COMMENT 'Id of the visit, unique with its moment',
    created_at DateTime64(3, 'UTC') COMMENT 'When the visit began',
    audience_id Nullable(String) COMMENT 'Audience the visitor belongs to',
    start_url Nullable(String) COMMENT 'First page',
    country Nullable(String) COMMENT 'Country of the visitor',
    country_code Nullable(String) COMMENT 'ISO 3166 code of that country',
    city Nullable(String) COMMENT 'City of the visitor',
    ip_address Nullable(String) COMMENT 'Address of the visitor',
    browser Nullable(String) COMMENT 'Browser',
    browser_version Nullable(String) COMMENT 'Version of the browser',
    platform Nullable(String) COMMENT 'Operating system',
    has_recording Nullable(Bool) COMMENT 'Whether a recording of the visit exists',
    intent_score Nullable(Int64) COMMENT 'Buying intent, higher is stronger'
)
AS SELECT
    organization_id,
    visit_id,
    created_at,
    audience_id,
    start_url,
    country,
    country_code,
    city,
    ip_address,
    browser,
    browser_version,
    platform,
    has_recording,
    intent_score
FROM website_visits FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'The visits to the website, one row each';

CREATE ROLE IF NOT EXISTS reachline_analyst ON CLUSTER `main`;

GRANT ON CLUSTER `main` SELECT ON reachline.* TO reachline_analyst;

GRANT ON CLUSTER `main` SELECT ON reachline_tables.* TO reachline_analyst;

CREATE ROW POLICY IF NOT EXISTS reachline_nothing ON CLUSTER `main` ON reachline_tables.*
FOR SELECT USING 0 TO reachline_analyst;

CREATE ROW POLICY IF NOT EXISTS reachline_everything ON CLUSTER `main` ON reachline_tables.*
FOR SELECT USING 1 TO ALL EXCEPT reachline_analyst;

CREATE SETTINGS PROFILE IF NOT EXISTS reachline_analyst ON CLUSTER `main`
SETTINGS readonly = 2, max_execution_time = 60 MAX 300, max_memory_usage = 8000000000 MAX 16000000000,
    max_result_rows = 10000000 MAX 10000000, distributed_product_mode = 'local', optimize_skip_unused_shards = 1
TO reachline_analyst;

CREATE QUOTA IF NOT EXISTS reachline_analyst ON CLUSTER `main` KEYED BY user_name
FOR INTERVAL 1 hour MAX queries = 3000, execution_time = 3600, read_rows = 100000000000
TO reachline_analyst;
