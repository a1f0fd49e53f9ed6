CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_days_mv TO delivery_days AS
SELECT DISTINCT
    organization_id,
    date
FROM deliveries
