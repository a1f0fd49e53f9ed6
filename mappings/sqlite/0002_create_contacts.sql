-- position: the moment of creation and a number, see services/stores/sqlite/row-ids.ts. It is the rowid in contact_terms.
-- body: the Contact as JSON without audience_ids, created_at and updated_at. audience_ids: a JSON array, ascending.
-- record_order: of the last stream record that changed it, null while there was none (contract 6.2, recordOrder).
CREATE TABLE contacts (
  key INTEGER PRIMARY KEY,
  organization INTEGER NOT NULL,
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  record_order TEXT,
  audience_ids TEXT NOT NULL,
  body TEXT NOT NULL
);

CREATE UNIQUE INDEX contacts_by_id ON contacts (organization, id);

-- Covers the walk in order of creation: bodies are read only for the rows of the page.
CREATE INDEX contacts_by_position ON contacts (organization, position, created_ms, id);

-- The index keeps no text of its own; only spaces separate terms, so every term is the one the writer made.
CREATE VIRTUAL TABLE contact_terms USING fts5 (
  first_name, last_name, emails, job_title, company_name, company_domain, functional_area,
  city, state_region, country, network_a_slug, phones, exact,
  content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- Bulk loads leave up to 16 segments a level before they merge: half the work. The writer merges the rest when it is idle.
INSERT INTO contact_terms (contact_terms, rank) VALUES ('automerge', 16);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('hashsize', 8000000);

-- The words of letters in use, for finding the ones a typo away. indexed: 0 contacts, 1 audiences.
CREATE TABLE vocabulary (
  organization INTEGER NOT NULL,
  indexed INTEGER NOT NULL,
  first TEXT NOT NULL,
  length INTEGER NOT NULL,
  word TEXT NOT NULL,
  PRIMARY KEY (organization, indexed, first, length, word)
) WITHOUT ROWID;
