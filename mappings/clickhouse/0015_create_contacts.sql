-- Contacts of the records store, which a follower of the feed of changes writes (decision 0022). A copy that begins anew fills a table of its
-- own, which takes this name when it is whole.
-- version: rises with every batch of the follower. is_deleted: 1 for a contact that is gone, of which only the id is left.
-- position: how far the follower has read. One row has it, whose organization_id and contact_id are empty and is_deleted is 1, so that a
-- batch and its position are written together.
DROP TABLE IF EXISTS contacts;

CREATE TABLE IF NOT EXISTS contacts
(
    organization_id String CODEC(ZSTD(1)),
    contact_id String CODEC(ZSTD(1)),
    company_id Nullable(String) CODEC(ZSTD(1)),
    first_name Nullable(String) CODEC(ZSTD(1)),
    last_name Nullable(String) CODEC(ZSTD(1)),
    work_emails Array(String) CODEC(ZSTD(1)),
    personal_emails Array(String) CODEC(ZSTD(1)),
    phones Array(String) CODEC(ZSTD(1)),
    network_a_url Nullable(String) CODEC(ZSTD(1)),
    job_title Nullable(String) CODEC(ZSTD(1)),
    functional_area Nullable(String) CODEC(ZSTD(1)),
    company_name Nullable(String) CODEC(ZSTD(1)),
    company_network_a_url Nullable(String) CODEC(ZSTD(1)),
    company_domain Nullable(String) CODEC(ZSTD(1)),
    company_country Nullable(String) CODEC(ZSTD(1)),
    company_industry Nullable(String) CODEC(ZSTD(1)),
    city Nullable(String) CODEC(ZSTD(1)),
    state_region Nullable(String) CODEC(ZSTD(1)),
    country Nullable(String) CODEC(ZSTD(1)),
    postal_code Nullable(String) CODEC(ZSTD(1)),
    age Nullable(Int32) CODEC(ZSTD(1)),
    dob Nullable(Date32) CODEC(ZSTD(1)),
    year_of_birth Nullable(Int32) CODEC(ZSTD(1)),
    gender Nullable(String) CODEC(ZSTD(1)),
    person_image_url Nullable(String) CODEC(ZSTD(1)),
    company_image_url Nullable(String) CODEC(ZSTD(1)),
    seniority Nullable(String) CODEC(ZSTD(1)),
    department Nullable(String) CODEC(ZSTD(1)),
    audience_ids Array(String) CODEC(ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    updated_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    is_deleted UInt8 CODEC(ZSTD(1)),
    position String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (organization_id, contact_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
    min_compressed_bytes_to_fsync_after_merge = 1;
