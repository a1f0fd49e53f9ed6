CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_days_mv TO delivery_days AS
SELECT
    organization_id,
    date,
    now() AS touched_at,
    countIf(creative_id != '') AS creative_rows,
    countIf(company_id != '') AS company_rows
FROM deliveries
GROUP BY organization_id, date
