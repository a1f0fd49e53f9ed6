-- A page reads all columns of a few dozen companies. Small granules and one file for all columns halve the processor time.
CREATE TABLE IF NOT EXISTS companies
(
    organization_id String,
    id String,
    network_a_company_id Nullable(String),
    name Nullable(String),
    domain Nullable(String),
    network_a_url Nullable(String),
    industry Nullable(String),
    employee_range Nullable(String),
    country Nullable(String),
    logo_url Nullable(String),
    name_key Nullable(String),
    domain_key Nullable(String),
    version UInt128
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS index_granularity = 512, min_bytes_for_wide_part = 104857600, fsync_after_insert = 1, fsync_part_directory = 1;
