-- Contract 5.14. Units of a currency for one euro on a day.
CREATE TABLE IF NOT EXISTS currency_rates
(
    organization_id String,
    currency LowCardinality(String),
    date Date,
    per_eur Decimal(38, 12),
    version UInt128
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, currency, date)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
