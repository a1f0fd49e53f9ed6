CREATE VIEW IF NOT EXISTS {{views}}.audiences {{on_cluster}}
(
    organization_id String COMMENT 'Organization the row belongs to',
    audience_id String COMMENT 'Id of the audience',
    name String COMMENT 'Name',
    description Nullable(String) COMMENT 'Description',
    network_a Bool COMMENT 'Whether it is used on network_a',
    network_b Bool COMMENT 'Whether it is used on network_b',
    network_c Bool COMMENT 'Whether it is used on network_c',
    tracking_utm_value Nullable(String) COMMENT 'UTM value that marks its visits',
    created_at DateTime64(3, 'UTC') COMMENT 'When the audience was first recorded'
)
AS SELECT
    organization_id,
    audience_id,
    name,
    description,
    network_a,
    network_b,
    network_c,
    tracking_utm_value,
    created_at
FROM audiences
COMMENT 'The audiences, one row each'
