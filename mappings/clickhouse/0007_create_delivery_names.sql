-- Campaigns and creatives that deliveries name. The table is small, and it is correct however often a row repeats, because no row is withdrawn.
CREATE TABLE IF NOT EXISTS delivery_names
(
    organization_id String,
    campaign_id String,
    creative_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (organization_id, campaign_id, creative_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_names_mv TO delivery_names AS
SELECT DISTINCT
    organization_id,
    campaign_id,
    creative_id
FROM deliveries;
