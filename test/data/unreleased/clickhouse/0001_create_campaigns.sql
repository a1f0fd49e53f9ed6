-- A record is a whole entity: the row with the greatest `version` replaces the others, in whatever order they are inserted. Its digits
-- are those of recordOrder in services/shared/record-order.ts: 16 of the event time, 13 of the acceptance time, 10 of the sequence.
-- `*_key` columns hold the form that filters and sorting compare. Days are text because they may lie outside the range of Date.
CREATE TABLE IF NOT EXISTS campaigns
(
    organization_id String,
    id String,
    network_a_campaign_id Nullable(String),
    name Nullable(String),
    account_id Nullable(String),
    campaign_group_id Nullable(String),
    campaign_group_name Nullable(String),
    status Nullable(String),
    objective_type Nullable(String),
    format Nullable(String),
    cost_type Nullable(String),
    currency Nullable(String),
    daily_budget Nullable(Decimal(38, 12)),
    total_budget Nullable(Decimal(38, 12)),
    start_date Nullable(String),
    end_date Nullable(String),
    name_key Nullable(String),
    campaign_group_name_key Nullable(String),
    status_key Nullable(String),
    objective_type_key Nullable(String),
    version UInt128
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
