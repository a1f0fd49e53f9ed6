-- services/stores/sqlite/text/ordered-rows.ts uses the same expressions.
DROP INDEX contacts_facets;
CREATE INDEX contacts_facets ON contacts (
  organization, position,
  json_extract(body, '$.country'),
  json_extract(body, '$.job_title'),
  json_extract(body, '$.company_name'),
  json_extract(body, '$.company_domain'),
  json_extract(body, '$.company_industry'),
  json_extract(body, '$.functional_area'),
  json_extract(body, '$.city'),
  json_extract(body, '$.state_region'),
  json_extract(body, '$.seniority'),
  json_extract(body, '$.department')
);
