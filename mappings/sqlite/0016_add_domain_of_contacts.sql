-- domain: by which a contact belongs to a company, derived from the body (services/contacts/contact-domain.ts).
ALTER TABLE contacts ADD COLUMN domain TEXT;

-- Counts the contacts of a domain by day, and finds the oldest of a time, without reading a row.
CREATE INDEX contacts_by_domain ON contacts (organization, domain, created_ms, id);
