CREATE TABLE IF NOT EXISTS creatives
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
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
