-- Copies of contacts for SQL, one for each server. start: number of the change at which the run of the copy began; 0 until the copy is whole.
CREATE TABLE sql_copies (
  copy INTEGER PRIMARY KEY,
  start INTEGER NOT NULL
);

-- Number of changes of audiences, by which a follower knows that it must read them again.
INSERT INTO counters (name, value) VALUES ('audience_change', 0);

CREATE TRIGGER count_changed_audience AFTER UPDATE OF body ON audiences BEGIN
  UPDATE counters SET value = value + 1 WHERE name = 'audience_change';
END;

-- change: a number of the counter `change` after the last contact was removed; null while contacts may be left.
ALTER TABLE erasures ADD COLUMN change INTEGER;

-- Greatest key of a deleted visit. The copy follows visits by their keys, so no key is used twice.
INSERT INTO counters (name, value) VALUES ('deleted_visit', 0);

CREATE TRIGGER keep_key_of_deleted_visit AFTER DELETE ON visits BEGIN
  UPDATE counters SET value = old.key WHERE name = 'deleted_visit' AND value < old.key;
END;
