-- Money of 76 digits: analysts add it up, and sums of 38 digits wrap around.
CREATE VIEW IF NOT EXISTS {{views}}.campaigns {{on_cluster}}
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
COMMENT 'The campaigns as last reported, one row each'
