-- import_id: data_import_id of the body. imported_ms: when the creating record was accepted. import_changed: 0 if a record with an import_id
-- created the contact and nothing else has changed it since (services/contacts/stored-contact.ts). All are null without an import.
ALTER TABLE contacts ADD COLUMN import_id TEXT;
ALTER TABLE contacts ADD COLUMN imported_ms INTEGER;
ALTER TABLE contacts ADD COLUMN import_changed INTEGER;

UPDATE contacts SET import_id = json_extract(body, '$.data_import_id'), imported_ms = created_ms, import_changed = 1
 WHERE json_extract(body, '$.data_import_id') IS NOT NULL;

-- Counts the contacts of each import without reading a row.
CREATE INDEX contacts_by_import ON contacts (organization, import_id, imported_ms, import_changed) WHERE import_id IS NOT NULL;
