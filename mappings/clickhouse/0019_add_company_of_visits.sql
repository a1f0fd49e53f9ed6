ALTER TABLE website_visits ADD COLUMN IF NOT EXISTS company_domain Nullable(String) CODEC(ZSTD(1)) AFTER intent_score;

DROP VIEW IF EXISTS {{views}}.website_visits;

CREATE VIEW IF NOT EXISTS {{views}}.website_visits
(
    organization_id String COMMENT 'Organization the row belongs to',
    visit_id String COMMENT 'Id of the visit, unique with its moment',
    created_at DateTime64(3, 'UTC') COMMENT 'When the visit began',
    audience_id Nullable(String) COMMENT 'Audience the visitor belongs to',
    start_url Nullable(String) COMMENT 'First page',
    country Nullable(String) COMMENT 'Country of the visitor',
    country_code Nullable(String) COMMENT 'ISO 3166 code of that country',
    city Nullable(String) COMMENT 'City of the visitor',
    ip_address Nullable(String) COMMENT 'Address of the visitor',
    browser Nullable(String) COMMENT 'Browser',
    browser_version Nullable(String) COMMENT 'Version of the browser',
    platform Nullable(String) COMMENT 'Operating system',
    has_recording Nullable(Bool) COMMENT 'Whether a recording of the visit exists',
    intent_score Nullable(Int64) COMMENT 'Buying intent, higher is stronger',
    company_domain Nullable(String) COMMENT 'Domain of the company that visited'
)
AS SELECT
    organization_id,
    visit_id,
    created_at,
    audience_id,
    start_url,
    country,
    country_code,
    city,
    ip_address,
    browser,
    browser_version,
    platform,
    has_recording,
    intent_score,
    company_domain
FROM website_visits FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'The visits to the website, one row each';
