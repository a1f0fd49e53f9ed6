-- Campaigns and creatives named by deliveries: small, and correct however often rows repeat, because a row cannot be withdrawn.
CREATE TABLE IF NOT EXISTS delivery_names
(
    organization_id String,
    campaign_id String,
    creative_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (organization_id, campaign_id, creative_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
