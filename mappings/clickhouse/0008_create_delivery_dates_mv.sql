CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_dates_mv TO delivery_dates AS
SELECT
    organization_id,
    campaign_id,
    creative_id,
    min(date) AS first_date,
    max(date) AS last_date
FROM deliveries
GROUP BY organization_id, campaign_id, creative_id
