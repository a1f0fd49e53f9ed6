-- When the audience last changed; null for one that has not changed since this is kept, which counts as changed when it was created.
ALTER TABLE audiences ADD COLUMN updated_ms INTEGER;
