CREATE VIEW IF NOT EXISTS {{views}}.companies {{on_cluster}}
(
    organization_id String COMMENT 'Organization the row belongs to',
    company_id String COMMENT 'Id of the company',
    network_a_company_id Nullable(String) COMMENT 'Id at the network',
    name Nullable(String) COMMENT 'Name',
    domain Nullable(String) COMMENT 'Lower case, without www.',
    network_a_url Nullable(String) COMMENT 'Page at the network',
    industry Nullable(String) COMMENT 'Industry',
    employee_range Nullable(String) COMMENT 'Number of employees, such as 51-200',
    country Nullable(String) COMMENT 'Country',
    logo_url Nullable(String) COMMENT 'Logo',
    updated_at DateTime64(3, 'UTC') COMMENT 'When the network reported this state'
)
AS SELECT
    organization_id,
    id AS company_id,
    network_a_company_id,
    name,
    domain,
    network_a_url,
    industry,
    employee_range,
    country,
    logo_url,
    fromUnixTimestamp64Milli(toInt64(intDiv(version, toUInt128('100000000000000000000000'))) - 1100000000000000, 'UTC') AS updated_at
FROM companies FINAL
COMMENT 'The companies as last reported, one row each'
