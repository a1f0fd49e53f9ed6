-- country: its normal form. Derived from the body, so it is rebuilt with the terms.
ALTER TABLE contacts ADD COLUMN country TEXT;
DELETE FROM derived WHERE name = 'contacts';

-- A page of one country in its order, and how many contacts it has, without the text index.
CREATE INDEX contacts_by_country ON contacts (organization, country, created_ms, id, updated_ms) WHERE country IS NOT NULL;
