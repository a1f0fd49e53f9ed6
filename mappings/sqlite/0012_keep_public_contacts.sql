-- body: the Contact as JSON, whole, so that a page is made of it as it is.
UPDATE contacts SET body = substr(body, 1, length(body) - 1)
  || ',"audience_ids":' || audience_ids
  || ',"created_at":"' || strftime('%Y-%m-%dT%H:%M:%fZ', created_ms / 1000.0, 'unixepoch')
  || '","updated_at":"' || strftime('%Y-%m-%dT%H:%M:%fZ', updated_ms / 1000.0, 'unixepoch') || '"}';
ALTER TABLE contacts DROP COLUMN audience_ids;

-- The newest page in its order, however many contacts share a moment.
CREATE INDEX contacts_by_time ON contacts (organization, created_ms, id, position, updated_ms);
