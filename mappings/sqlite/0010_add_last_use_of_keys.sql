-- ISO 8601, precise to an hour; null while the key was never used.
ALTER TABLE keys ADD COLUMN last_used_at TEXT;
