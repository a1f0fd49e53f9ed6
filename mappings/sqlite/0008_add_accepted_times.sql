-- When the newest record of a stream was accepted, in milliseconds since 1970; null before the first.
ALTER TABLE organizations ADD COLUMN contacts_accepted_ms INTEGER;
ALTER TABLE organizations ADD COLUMN audiences_accepted_ms INTEGER;
ALTER TABLE organizations ADD COLUMN visits_accepted_ms INTEGER;
