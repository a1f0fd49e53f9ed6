CREATE MATERIALIZED VIEW IF NOT EXISTS feed_delivered TO delivered AS
SELECT
    organization_id,
    campaign_id,
    creative_id,
    min(date) AS first_date,
    max(date) AS last_date
FROM deliveries
GROUP BY organization_id, campaign_id, creative_id
