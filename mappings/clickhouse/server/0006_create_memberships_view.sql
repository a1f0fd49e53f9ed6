CREATE VIEW IF NOT EXISTS {{views}}.memberships {{on_cluster}}
(
    organization_id String COMMENT 'Organization the row belongs to',
    audience_id String COMMENT 'Audience',
    contact_id String COMMENT 'Contact'
)
AS SELECT
    organization_id,
    member_of AS audience_id,
    contact_id
FROM contacts
ARRAY JOIN audience_ids AS member_of
COMMENT 'A row for each audience of each contact'
