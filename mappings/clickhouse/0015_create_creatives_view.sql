CREATE VIEW IF NOT EXISTS {{views}}.creatives {{on_cluster}}
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
COMMENT 'The creatives as last reported, one row each'
