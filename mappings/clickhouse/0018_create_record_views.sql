DROP VIEW IF EXISTS {{views}}.contacts;

CREATE VIEW IF NOT EXISTS {{views}}.contacts
(
    organization_id String COMMENT 'Organization the row belongs to',
    contact_id String COMMENT 'Id of the contact',
    company_id Nullable(String) COMMENT 'The same for one company domain; not the id of reachline.companies',
    first_name Nullable(String) COMMENT 'First name',
    last_name Nullable(String) COMMENT 'Last name',
    work_emails Array(String) COMMENT 'Work email addresses, kept in lower case',
    personal_emails Array(String) COMMENT 'Personal email addresses, kept in lower case',
    phones Array(String) COMMENT 'Phone numbers as written',
    network_a_url Nullable(String) COMMENT 'Address of the person\'s profile on network_a',
    job_title Nullable(String) COMMENT 'Job title',
    functional_area Nullable(String) COMMENT 'Department or function the person works in',
    company_name Nullable(String) COMMENT 'Name of the company the person works for',
    company_network_a_url Nullable(String) COMMENT 'Address of the company page on network_a',
    company_domain Nullable(String) COMMENT 'Domain of that company',
    company_country Nullable(String) COMMENT 'Country of the company\'s seat',
    company_industry Nullable(String) COMMENT 'Industry of the company',
    city Nullable(String) COMMENT 'City',
    state_region Nullable(String) COMMENT 'State or region',
    country Nullable(String) COMMENT 'Country: a name or an ISO 3166 code',
    postal_code Nullable(String) COMMENT 'Postal code',
    age Nullable(Int32) COMMENT 'Age in years',
    dob Nullable(Date32) COMMENT 'Date of birth',
    year_of_birth Nullable(Int32) COMMENT 'Year of birth',
    gender Nullable(String) COMMENT 'Gender as recorded',
    person_image_url Nullable(String) COMMENT 'Address of a portrait',
    company_image_url Nullable(String) COMMENT 'Address of the company logo',
    seniority Nullable(String) COMMENT 'Seniority, computed from the job title',
    department Nullable(String) COMMENT 'Department, computed from the job title',
    audience_ids Array(String) COMMENT 'Audiences the contact is a member of, ascending',
    created_at DateTime64(3, 'UTC') COMMENT 'When the contact was first recorded',
    updated_at DateTime64(3, 'UTC') COMMENT 'When the contact last changed'
)
AS SELECT
    organization_id,
    contact_id,
    company_id,
    first_name,
    last_name,
    work_emails,
    personal_emails,
    phones,
    network_a_url,
    job_title,
    functional_area,
    company_name,
    company_network_a_url,
    company_domain,
    company_country,
    company_industry,
    city,
    state_region,
    country,
    postal_code,
    age,
    dob,
    year_of_birth,
    gender,
    person_image_url,
    company_image_url,
    seniority,
    department,
    audience_ids,
    created_at,
    updated_at
FROM contacts FINAL
COMMENT 'The contacts, one row each';

DROP VIEW IF EXISTS {{views}}.audiences;

CREATE VIEW IF NOT EXISTS {{views}}.audiences
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
COMMENT 'The audiences, one row each';

DROP VIEW IF EXISTS {{views}}.memberships;

CREATE VIEW IF NOT EXISTS {{views}}.memberships
(
    organization_id String COMMENT 'Organization the row belongs to',
    audience_id String COMMENT 'Audience',
    contact_id String COMMENT 'Contact'
)
AS SELECT
    organization_id,
    member_of AS audience_id,
    contact_id
FROM contacts FINAL
ARRAY JOIN audience_ids AS member_of
COMMENT 'A row for each audience of each contact';

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
