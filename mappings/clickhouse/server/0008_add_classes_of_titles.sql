ALTER TABLE contacts {{on_cluster}}
    ADD COLUMN IF NOT EXISTS seniority Nullable(String) CODEC(ZSTD(1)) AFTER company_image_url,
    ADD COLUMN IF NOT EXISTS department Nullable(String) CODEC(ZSTD(1)) AFTER seniority
