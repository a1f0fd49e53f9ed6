-- company_domain: domain of the company that visited, in normal form. Visits from before this column have none.
ALTER TABLE visits ADD COLUMN company_domain TEXT;

UPDATE visits SET body = substr(body, 1, length(body) - 1) || ',"companyDomain":null}';

DROP INDEX visits_by_time;
CREATE INDEX visits_by_time ON visits (
  organization, created_ms, id, audience, country, other_country, city, browser, platform,
  has_recording, intent_score, address, start_url, company_domain
);

CREATE INDEX visits_by_company ON visits (organization, company_domain, created_ms, id) WHERE company_domain IS NOT NULL;
