-- A row of a table without contentless_delete is deleted by its columns, so that an erasure can have its terms removed from the index at once
-- (https://www.sqlite.org/fts5.html#the_secure_delete_configuration_option).
DROP TABLE contact_terms;
CREATE VIRTUAL TABLE contact_terms USING fts5 (
  first_name, last_name, full_name, emails, job_title, company_name, company_domain, functional_area,
  city, state_region, country, postal_code, network_a_slug, phones, exact,
  content = '', detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('automerge', 16);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('crisismerge', 64);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('hashsize', 8000000);

DROP TABLE audience_terms;
CREATE VIRTUAL TABLE audience_terms USING fts5 (
  name, tracking_utm_value, description, exact,
  content = '', detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- Both are derived anew from the stored records.
DELETE FROM derived WHERE name IN ('contacts', 'audiences');

CREATE INDEX erasures_pending ON erasures (id) WHERE completed_at IS NULL;
