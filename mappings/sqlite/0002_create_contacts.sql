-- position: the moment of creation and a number, see services/stores/sqlite/row-ids.ts. It is the rowid in contact_terms.
-- record_order: order of the last stream record that changed the contact, null before the first (contract 6.2, recordOrder).
-- body: the Contact as JSON, so that a page is made of bodies without changing them.
-- country: its normal form. last_name, company_name: texts that contacts are sorted by. All three are derived from the body.
CREATE TABLE contacts (
  key INTEGER PRIMARY KEY,
  organization INTEGER NOT NULL,
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  record_order TEXT,
  body TEXT NOT NULL,
  country TEXT,
  last_name TEXT,
  company_name TEXT
);

CREATE UNIQUE INDEX contacts_by_id ON contacts (organization, id);

-- Reads the newest page in order, however many contacts share a moment.
CREATE INDEX contacts_by_time ON contacts (organization, created_ms, id, position, updated_ms);

-- Reads a page of one country in order, and counts the contacts of a country, without the text index.
CREATE INDEX contacts_by_country ON contacts (organization, country, created_ms, id, updated_ms) WHERE country IS NOT NULL;

-- Read a page in each of these orders without sorting.
CREATE INDEX contacts_by_update ON contacts (organization, updated_ms, id);
CREATE INDEX contacts_by_last_name ON contacts (organization, last_name, id);
CREATE INDEX contacts_by_company_name ON contacts (organization, company_name, id);

-- What a filter finds is sorted by this index, so that bodies are read only for the rows of the page.
CREATE INDEX contacts_by_position
  ON contacts (organization, position, created_ms, id, updated_ms, last_name, company_name);

-- Values of facets by position, so that counting them reads no body. services/stores/sqlite/text/ordered-rows.ts uses the same expressions.
CREATE INDEX contacts_facets ON contacts (
  organization, position,
  json_extract(body, '$.country'),
  json_extract(body, '$.job_title'),
  json_extract(body, '$.company_name'),
  json_extract(body, '$.company_domain'),
  json_extract(body, '$.functional_area'),
  json_extract(body, '$.city'),
  json_extract(body, '$.state_region'),
  json_extract(body, '$.seniority'),
  json_extract(body, '$.department')
);

-- The index keeps no text of its own. Only spaces separate terms, so every term is the one that the writer made.
-- full_name: names written without a space between them. postal_code: its words.
-- Without contentless_delete a row is deleted by its columns, so that an erasure can remove its terms at once
-- (https://www.sqlite.org/fts5.html#the_secure_delete_configuration_option).
CREATE VIRTUAL TABLE contact_terms USING fts5 (
  first_name, last_name, full_name, emails, job_title, company_name, company_domain, functional_area,
  city, state_region, country, postal_code, network_a_slug, phones, exact,
  content = '', detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- Bulk loads leave up to 16 segments a level before they merge: half the work. The writer merges the rest when it is idle. From 16
-- segments on each transaction merges a little. At 64 it merges all, which delays other writes.
INSERT INTO contact_terms (contact_terms, rank) VALUES ('automerge', 16);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('crisismerge', 64);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('hashsize', 8000000);
