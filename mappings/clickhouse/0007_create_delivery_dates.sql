-- Campaigns and creatives named by deliveries, with the first and last day: small, and correct however often rows repeat.
CREATE TABLE IF NOT EXISTS delivery_dates
(
    organization_id String,
    campaign_id String,
    creative_id String,
    first_date SimpleAggregateFunction(min, Date),
    last_date SimpleAggregateFunction(max, Date)
)
ENGINE = AggregatingMergeTree
ORDER BY (organization_id, campaign_id, creative_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
