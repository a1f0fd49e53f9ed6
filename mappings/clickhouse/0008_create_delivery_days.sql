-- Days with deliveries of any breakdown: the time of their last insert, and the number of inserted rows, including restatements.
CREATE TABLE IF NOT EXISTS delivery_days
(
    organization_id String,
    date Date,
    touched_at SimpleAggregateFunction(max, DateTime),
    creative_rows SimpleAggregateFunction(sum, UInt64),
    company_rows SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (organization_id, date)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS delivery_days_mv TO delivery_days AS
SELECT
    organization_id,
    date,
    now() AS touched_at,
    countIf(creative_id != '') AS creative_rows,
    countIf(company_id != '') AS company_rows
FROM deliveries
GROUP BY organization_id, date;
