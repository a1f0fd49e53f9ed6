-- Visits by UTC day, created_ms being its start, and by the values that most filters name ('' and -1 for none): what totals and days are
-- counted over. The triggers keep it right, whatever inserts, deletes or rebuilds visits.
CREATE TABLE visit_days (
  organization INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  country TEXT NOT NULL,
  other_country TEXT NOT NULL,
  browser TEXT NOT NULL,
  platform TEXT NOT NULL,
  has_recording INTEGER NOT NULL,
  visits INTEGER NOT NULL,
  PRIMARY KEY (organization, created_ms, country, other_country, browser, platform, has_recording)
) WITHOUT ROWID;

CREATE TRIGGER count_inserted_visit AFTER INSERT ON visits BEGIN
  INSERT INTO visit_days VALUES (new.organization, new.created_ms - (new.created_ms + 8640000000000000) % 86400000,
    ifnull(new.country, ''), ifnull(new.other_country, ''), ifnull(new.browser, ''), ifnull(new.platform, ''),
    ifnull(new.has_recording, -1), 1)
  ON CONFLICT DO UPDATE SET visits = visits + 1;
END;

CREATE TRIGGER count_deleted_visit AFTER DELETE ON visits BEGIN
  INSERT INTO visit_days VALUES (old.organization, old.created_ms - (old.created_ms + 8640000000000000) % 86400000,
    ifnull(old.country, ''), ifnull(old.other_country, ''), ifnull(old.browser, ''), ifnull(old.platform, ''),
    ifnull(old.has_recording, -1), -1)
  ON CONFLICT DO UPDATE SET visits = visits - 1;
  DELETE FROM visit_days
    WHERE organization = old.organization AND created_ms = old.created_ms - (old.created_ms + 8640000000000000) % 86400000
      AND country = ifnull(old.country, '') AND other_country = ifnull(old.other_country, '')
      AND browser = ifnull(old.browser, '') AND platform = ifnull(old.platform, '')
      AND has_recording = ifnull(old.has_recording, -1) AND visits = 0;
END;

CREATE TRIGGER count_changed_visit AFTER UPDATE OF country, other_country, browser, platform ON visits BEGIN
  INSERT INTO visit_days VALUES (old.organization, old.created_ms - (old.created_ms + 8640000000000000) % 86400000,
    ifnull(old.country, ''), ifnull(old.other_country, ''), ifnull(old.browser, ''), ifnull(old.platform, ''),
    ifnull(old.has_recording, -1), -1)
  ON CONFLICT DO UPDATE SET visits = visits - 1;
  DELETE FROM visit_days
    WHERE organization = old.organization AND created_ms = old.created_ms - (old.created_ms + 8640000000000000) % 86400000
      AND country = ifnull(old.country, '') AND other_country = ifnull(old.other_country, '')
      AND browser = ifnull(old.browser, '') AND platform = ifnull(old.platform, '')
      AND has_recording = ifnull(old.has_recording, -1) AND visits = 0;
  INSERT INTO visit_days VALUES (new.organization, new.created_ms - (new.created_ms + 8640000000000000) % 86400000,
    ifnull(new.country, ''), ifnull(new.other_country, ''), ifnull(new.browser, ''), ifnull(new.platform, ''),
    ifnull(new.has_recording, -1), 1)
  ON CONFLICT DO UPDATE SET visits = visits + 1;
END;

INSERT INTO visit_days
  SELECT organization, created_ms - (created_ms + 8640000000000000) % 86400000 AS day,
    ifnull(country, ''), ifnull(other_country, ''), ifnull(browser, ''), ifnull(platform, ''),
    ifnull(has_recording, -1), count(*)
  FROM visits GROUP BY 1, 2, 3, 4, 5, 6, 7;
