CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_names_mv TO delivery_names AS
SELECT DISTINCT
    organization_id,
    campaign_id,
    creative_id
FROM deliveries
