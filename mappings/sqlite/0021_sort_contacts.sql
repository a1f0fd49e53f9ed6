-- last_name, company_name: the text that contacts are sorted by. Derived from the body, so they are rebuilt with the terms.
ALTER TABLE contacts ADD COLUMN last_name TEXT;
ALTER TABLE contacts ADD COLUMN company_name TEXT;
DELETE FROM derived WHERE name = 'contacts';

-- A page in each order, without sorting.
CREATE INDEX contacts_by_update ON contacts (organization, updated_ms, id);
CREATE INDEX contacts_by_last_name ON contacts (organization, last_name, id);
CREATE INDEX contacts_by_company_name ON contacts (organization, company_name, id);

-- So that what a filter finds is sorted without reading a row.
DROP INDEX contacts_by_position;
CREATE INDEX contacts_by_position
  ON contacts (organization, position, created_ms, id, updated_ms, last_name, company_name);
