-- Views for analysts (docs/reference/sql.md). They resolve restatements, so that no query needs FINAL.
-- Money has 76 digits: analysts add it up, and sums of 38 digits wrap around.
CREATE DATABASE IF NOT EXISTS {{views}};

CREATE VIEW IF NOT EXISTS {{views}}.campaigns
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
    daily_budget Nullable(Decimal(76, 12)) COMMENT 'In the currency',
    total_budget Nullable(Decimal(76, 12)) COMMENT 'In the currency',
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
    toDecimal256(campaign.daily_budget, 12) AS daily_budget,
    toDecimal256(campaign.total_budget, 12) AS total_budget,
    toDate32OrNull(start_date) AS start_date,
    toDate32OrNull(end_date) AS end_date,
    fromUnixTimestamp64Milli(toInt64(intDiv(version, toUInt128('100000000000000000000000'))) - 1100000000000000, 'UTC') AS updated_at
FROM campaigns AS campaign FINAL
COMMENT 'The campaigns as last reported, one row each';

CREATE VIEW IF NOT EXISTS {{views}}.creatives
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

CREATE VIEW IF NOT EXISTS {{views}}.companies
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

CREATE VIEW IF NOT EXISTS {{views}}.campaign_daily
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day, in UTC',
    campaign_id String COMMENT 'Campaign',
    ad_spend Decimal(76, 12) COMMENT 'Money spent, in the currency of the campaign',
    impressions UInt64 COMMENT 'Times an ad was shown',
    clicks UInt64 COMMENT 'Clicks of any kind on an ad',
    landing_page_clicks UInt64 COMMENT 'Clicks that led to the landing page',
    engagements UInt64 COMMENT 'Clicks and social actions together, as the network counts them',
    reactions UInt64 COMMENT 'Likes and other reactions',
    comments UInt64 COMMENT 'Comments',
    shares UInt64 COMMENT 'Shares',
    follows UInt64 COMMENT 'Follows of the advertiser',
    video_views UInt64 COMMENT 'Video views',
    video_completions UInt64 COMMENT 'Videos watched to the end',
    leads UInt64 COMMENT 'Leads gathered with a form',
    lead_form_opens UInt64 COMMENT 'Times a lead form was opened',
    conversions UInt64 COMMENT 'Conversions on the site',
    conversion_value Decimal(76, 12) COMMENT 'Value of those conversions, in the currency of the campaign'
)
AS SELECT
    organization_id,
    date,
    campaign_id,
    sum(toDecimal256(day.ad_spend, 12)) AS ad_spend,
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
    sum(toDecimal256(day.conversion_value, 12)) AS conversion_value
FROM creative_deliveries AS day FINAL
WHERE campaign_id != ''
GROUP BY organization_id, date, campaign_id
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Figures of each campaign and day, restatements resolved; the sum of its creatives';

CREATE VIEW IF NOT EXISTS {{views}}.creative_daily
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day, in UTC',
    campaign_id String COMMENT 'Campaign',
    creative_id String COMMENT 'Creative',
    ad_spend Decimal(76, 12) COMMENT 'Money spent, in the currency of the campaign',
    impressions UInt64 COMMENT 'Times an ad was shown',
    clicks UInt64 COMMENT 'Clicks of any kind on an ad',
    landing_page_clicks UInt64 COMMENT 'Clicks that led to the landing page',
    engagements UInt64 COMMENT 'Clicks and social actions together, as the network counts them',
    reactions UInt64 COMMENT 'Likes and other reactions',
    comments UInt64 COMMENT 'Comments',
    shares UInt64 COMMENT 'Shares',
    follows UInt64 COMMENT 'Follows of the advertiser',
    video_views UInt64 COMMENT 'Video views',
    video_completions UInt64 COMMENT 'Videos watched to the end',
    leads UInt64 COMMENT 'Leads gathered with a form',
    lead_form_opens UInt64 COMMENT 'Times a lead form was opened',
    conversions UInt64 COMMENT 'Conversions on the site',
    conversion_value Decimal(76, 12) COMMENT 'Value of those conversions, in the currency of the campaign'
)
AS SELECT
    organization_id,
    date,
    campaign_id,
    creative_id,
    sum(toDecimal256(day.ad_spend, 12)) AS ad_spend,
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
    sum(toDecimal256(day.conversion_value, 12)) AS conversion_value
FROM creative_deliveries AS day FINAL
WHERE campaign_id != ''
GROUP BY organization_id, date, campaign_id, creative_id
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Figures of each creative and day, restatements resolved';

CREATE VIEW IF NOT EXISTS {{views}}.company_daily
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day, in UTC',
    company_id String COMMENT 'Company that was reached',
    campaign_id String COMMENT 'Campaign',
    impressions UInt64 COMMENT 'Times an ad was shown',
    clicks UInt64 COMMENT 'Clicks of any kind on an ad',
    landing_page_clicks UInt64 COMMENT 'Clicks that led to the landing page',
    engagements UInt64 COMMENT 'Clicks and social actions together, as the network counts them',
    reactions UInt64 COMMENT 'Likes and other reactions',
    comments UInt64 COMMENT 'Comments',
    shares UInt64 COMMENT 'Shares',
    follows UInt64 COMMENT 'Follows of the advertiser',
    video_views UInt64 COMMENT 'Video views',
    video_completions UInt64 COMMENT 'Videos watched to the end',
    leads UInt64 COMMENT 'Leads gathered with a form',
    lead_form_opens UInt64 COMMENT 'Times a lead form was opened',
    conversions UInt64 COMMENT 'Conversions on the site'
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

CREATE VIEW IF NOT EXISTS {{views}}.currency_rates
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day of the rate',
    currency String COMMENT 'ISO 4217 code',
    per_eur Decimal(38, 12) COMMENT 'Units of the currency for one euro'
)
AS SELECT
    organization_id,
    date,
    toString(currency) AS currency,
    per_eur
FROM currency_rates FINAL
COMMENT 'The rates of currencies as last loaded, one row per currency and day';
