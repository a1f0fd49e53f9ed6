-- Columns that searches compare are in normal form. other_country: the value of country_code if it names another country.
-- body: the Visit as JSON, behind them, so that a scan need not read it.
-- record_order: order of the visit's record (contract 6.2). Of several records of a visit the one with the smallest order stays.
CREATE TABLE visits (
  key INTEGER PRIMARY KEY,
  organization INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  id TEXT NOT NULL,
  audience TEXT,
  country TEXT,
  other_country TEXT,
  city TEXT,
  browser TEXT,
  platform TEXT,
  has_recording INTEGER,
  intent_score INTEGER,
  address TEXT,
  start_url TEXT,
  body TEXT NOT NULL,
  record_order TEXT
);

CREATE UNIQUE INDEX visits_by_id ON visits (organization, id, created_ms);

-- Answers every search in order of time without reading a row.
CREATE INDEX visits_by_time ON visits (
  organization, created_ms, id, audience, country, other_country, city, browser, platform,
  has_recording, intent_score, address, start_url
);

CREATE INDEX visits_by_audience ON visits (organization, audience, created_ms, id) WHERE audience IS NOT NULL;
CREATE INDEX visits_by_address ON visits (organization, address, created_ms, id) WHERE address IS NOT NULL;
CREATE INDEX visits_by_city ON visits (organization, city, created_ms, id) WHERE city IS NOT NULL;

-- Visits by UTC day and by the values that most filters name. Totals and days are counted over this table. created_ms: the start of the day.
-- '' and -1 stand for missing values. The triggers keep it right, whatever inserts, deletes or rebuilds visits.
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
