-- The columns searches compare are in normal form. other_country is the country code where it names another country.
-- body: the Visit as JSON; last, so that a scan need not read it.
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
  body TEXT NOT NULL
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
