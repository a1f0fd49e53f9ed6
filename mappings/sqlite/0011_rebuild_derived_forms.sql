-- How far the terms and normal forms derived from records follow the rules of services/search: contacts, audiences, visits.
-- rebuilt_to: key of the last row rebuilt, null once all are. A missing row is of no version.
CREATE TABLE derived (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  rebuilt_to INTEGER
) WITHOUT ROWID;

-- full_name: names written without a space between them. postal_code: its words.
DROP TABLE contact_terms;
CREATE VIRTUAL TABLE contact_terms USING fts5 (
  first_name, last_name, full_name, emails, job_title, company_name, company_domain, functional_area,
  city, state_region, country, postal_code, network_a_slug, phones, exact,
  content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('automerge', 16);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('hashsize', 8000000);
