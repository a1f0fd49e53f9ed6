-- campaigns: campaigns_page
SELECT known.id AS id
FROM (
  SELECT id FROM campaigns WHERE organization_id = {organization_id:String}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE organization_id = {organization_id:String}
) AS known
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.id
LEFT JOIN (
  SELECT campaign_id, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend
  FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date}
  GROUP BY campaign_id
) AS metrics ON metrics.campaign_id = known.id
ORDER BY count() OVER (PARTITION BY campaign.currency) DESC, campaign.currency ASC NULLS LAST, ifNull(metrics.ad_spend, 0) DESC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- campaigns, filtered: campaigns_page
SELECT known.id AS id
FROM (
  SELECT id FROM campaigns WHERE organization_id = {organization_id:String}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE organization_id = {organization_id:String}
) AS known
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.id
LEFT JOIN (
  SELECT campaign_id, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(toDecimal256(delivery.conversion_value, 12)) AS conversion_value
  FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND campaign_id IN {campaign_ids:Array(String)} AND campaign_id IN (SELECT known.id FROM (
  SELECT id FROM campaigns WHERE organization_id = {organization_id:String}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE organization_id = {organization_id:String}
) AS known
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.id WHERE known.id IN {campaign_ids:Array(String)} AND campaign.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.campaign_group_name_key) = lengthUTF8(campaign.campaign_group_name_key), campaign.campaign_group_name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.campaign_group_name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0))
  GROUP BY campaign_id
) AS metrics ON metrics.campaign_id = known.id
WHERE known.id IN {campaign_ids:Array(String)} AND campaign.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.campaign_group_name_key) = lengthUTF8(campaign.campaign_group_name_key), campaign.campaign_group_name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.campaign_group_name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0)
ORDER BY intDiv(2 * reinterpret(toDecimal256(metrics.conversion_value, 12), 'Int256') * 1000000 + reinterpret(toDecimal256(metrics.ad_spend, 12), 'Int256'), nullIf(2 * reinterpret(toDecimal256(metrics.ad_spend, 12), 'Int256'), 0)) ASC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- creatives: creatives_page
SELECT known.id AS id
FROM (
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE organization_id = {organization_id:String}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id != ''
  ) GROUP BY id
) AS known
LEFT JOIN (SELECT * FROM creatives FINAL WHERE organization_id = {organization_id:String}) AS creative ON creative.id = known.id
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.campaign_id
ORDER BY if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')) ASC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- creatives, filtered: creatives_page
SELECT known.id AS id
FROM (
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE organization_id = {organization_id:String}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id != ''
  ) GROUP BY id
) AS known
LEFT JOIN (SELECT * FROM creatives FINAL WHERE organization_id = {organization_id:String}) AS creative ON creative.id = known.id
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.campaign_id
LEFT JOIN (
  SELECT creative_id, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(delivery.impressions) AS impressions
  FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND creative_id IN {creative_ids:Array(String)} AND creative_id IN (SELECT known.id FROM (
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE organization_id = {organization_id:String}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id != ''
  ) GROUP BY id
) AS known
LEFT JOIN (SELECT * FROM creatives FINAL WHERE organization_id = {organization_id:String}) AS creative ON creative.id = known.id
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.campaign_id WHERE known.campaign_id IN {campaign_ids:Array(String)} AND known.id IN {creative_ids:Array(String)} AND creative.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(creative.name_key) = lengthUTF8(creative.name_key), creative.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(creative.headline_key) = lengthUTF8(creative.headline_key), creative.headline_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.headline_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0))
  GROUP BY creative_id
) AS metrics ON metrics.creative_id = known.id
WHERE known.campaign_id IN {campaign_ids:Array(String)} AND known.id IN {creative_ids:Array(String)} AND creative.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(creative.name_key) = lengthUTF8(creative.name_key), creative.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(creative.headline_key) = lengthUTF8(creative.headline_key), creative.headline_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.headline_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0)
ORDER BY count() OVER (PARTITION BY campaign.currency) DESC, campaign.currency ASC NULLS LAST, intDiv(2 * reinterpret(toDecimal256(metrics.ad_spend, 12), 'Int256') * 1000000000 + toInt256(metrics.impressions) * 1000000000000, nullIf(2 * toInt256(metrics.impressions) * 1000000000000, 0)) DESC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- attributes of campaigns: campaigns_attributes
SELECT known.id AS id, campaign.network_a_campaign_id AS network_a_campaign_id, campaign.name AS name, campaign.account_id AS account_id, campaign.campaign_group_id AS campaign_group_id, campaign.campaign_group_name AS campaign_group_name, campaign.status AS status, campaign.objective_type AS objective_type, campaign.format AS format, campaign.cost_type AS cost_type, campaign.currency AS currency, campaign.daily_budget AS daily_budget, campaign.total_budget AS total_budget, campaign.start_date AS start_date, campaign.end_date AS end_date, ifNull(counted.creatives, 0) AS creatives_count
FROM (SELECT arrayJoin({ids:Array(String)}) AS id) AS known
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String} AND id IN {ids:Array(String)}) AS campaign ON campaign.id = known.id
LEFT JOIN (SELECT campaign_id, count() AS creatives FROM (
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE organization_id = {organization_id:String}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id != ''
  ) GROUP BY id
) WHERE campaign_id IN {ids:Array(String)} GROUP BY campaign_id) AS counted ON counted.campaign_id = known.id

-- attributes of creatives: creatives_attributes
SELECT known.id AS id, known.campaign_id AS campaign_id, campaign.name AS campaign_name, creative.network_a_creative_id AS network_a_creative_id, creative.name AS name, creative.status AS status, creative.review_status AS review_status, creative.format AS format, creative.headline AS headline, creative.landing_page_url AS landing_page_url, creative.image_url AS image_url, campaign.currency AS currency
FROM (SELECT id, campaign_id FROM (
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE organization_id = {organization_id:String}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id != ''
  ) GROUP BY id
) WHERE id IN {ids:Array(String)}) AS known
LEFT JOIN (SELECT * FROM creatives FINAL WHERE organization_id = {organization_id:String} AND id IN {ids:Array(String)}) AS creative ON creative.id = known.id
LEFT JOIN (SELECT id, name, currency FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.campaign_id

-- figures of campaigns: campaigns_figures
SELECT campaign_id AS id, if(grouping(date) = 1, '', toString(date)) AS day, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(delivery.clicks) AS clicks
FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND campaign_id IN {ids:Array(String)}
GROUP BY campaign_id, date WITH ROLLUP
HAVING id != ''
LIMIT {limit:UInt32}

-- series of creatives, monthly: creatives_figures
SELECT creative_id AS id, toStartOfMonth(date) AS day, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(delivery.clicks) AS clicks
FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND creative_id IN {ids:Array(String)}
GROUP BY creative_id, toStartOfMonth(date)
LIMIT {limit:UInt32}

-- companies: companies_page
SELECT metrics.company_id AS id
FROM (
  SELECT company_id, sum(delivery.engagements) AS engagements, max(delivery.active) AS active
  FROM company_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date}
  GROUP BY company_id
) AS metrics
WHERE metrics.active
ORDER BY ifNull(metrics.engagements, 0) DESC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- companies, of a month with sums: companies_page
SELECT metrics.company_id AS id
FROM (
  SELECT company_id, sum(delivery.engagements) AS engagements, max(delivery.active) AS active
  FROM company_months AS delivery
WHERE organization_id = {organization_id:String} AND build IN CAST({builds:Array(String)}, 'Array(UInt64)')
  GROUP BY company_id
) AS metrics
WHERE metrics.active
ORDER BY ifNull(metrics.engagements, 0) DESC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- figures of campaigns, of a month with sums: campaigns_figures
SELECT campaign_id AS id, if(grouping(toStartOfMonth(date)) = 1, '', toString(toStartOfMonth(date))) AS day, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(delivery.clicks) AS clicks
FROM creative_months AS delivery
WHERE organization_id = {organization_id:String} AND build IN CAST({builds:Array(String)}, 'Array(UInt64)') AND campaign_id IN {ids:Array(String)}
GROUP BY campaign_id, toStartOfMonth(date) WITH ROLLUP
HAVING id != ''
LIMIT {limit:UInt32}

-- months with sums: company_sealed_months
SELECT rollup.month AS month, toString(rollup.build) AS build
FROM (
  SELECT month, build, mark FROM rollups FINAL
  WHERE organization_id = {organization_id:String} AND source = 'company' AND month IN {months:Array(Date)} AND expires_at > now() + 3600
) AS rollup
INNER JOIN (SELECT date AS month, mark FROM company_deliveries FINAL WHERE organization_id = {organization_id:String} AND company_id = '' AND date IN {months:Array(Date)}) AS marked ON marked.month = rollup.month AND marked.mark = rollup.mark
ORDER BY month

-- companies, by reach: companies_page
SELECT metrics.company_id AS id
FROM (
  SELECT company_id, max(delivery.active) AS active, uniqExactIf(campaign_id, delivery.impressions > 0) AS campaigns_reached
  FROM company_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND campaign_id IN {campaign_ids:Array(String)}
  GROUP BY company_id
) AS metrics
WHERE metrics.active
ORDER BY ifNull(metrics.campaigns_reached, 0) DESC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- companies, by ids: companies_page
SELECT known.id AS id
FROM (SELECT id FROM companies WHERE organization_id = {organization_id:String} AND id IN {company_ids:Array(String)}
  UNION DISTINCT SELECT company_id FROM company_deliveries WHERE organization_id = {organization_id:String} AND company_id IN {company_ids:Array(String)}) AS known
LEFT JOIN (
  SELECT company_id, max(delivery.active) AS active
  FROM company_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND company_id IN {company_ids:Array(String)}
  GROUP BY company_id
) AS metrics ON metrics.company_id = known.id
LEFT JOIN (SELECT * FROM companies FINAL WHERE organization_id = {organization_id:String}) AS company ON company.id = known.id
ORDER BY if(length(company.name_key) = lengthUTF8(company.name_key), company.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(company.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')) ASC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- companies, filtered: companies_page
SELECT known.id AS id
FROM (SELECT id FROM (SELECT id FROM companies FINAL WHERE organization_id = {organization_id:String} AND network_a_company_id IN {network_a_company_ids:Array(String)} AND domain IN {domains:Array(String)} AND (position(ifNull(if(length(name_key) = lengthUTF8(name_key), name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(domain_key) = lengthUTF8(domain_key), domain_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(domain_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0)) WHERE id IN {company_ids:Array(String)}) AS known
LEFT JOIN (
  SELECT company_id, sum(delivery.impressions) AS impressions, sum(delivery.engagements) AS engagements, max(delivery.active) AS active
  FROM company_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND campaign_id IN {campaign_ids:Array(String)} AND company_id IN {company_ids:Array(String)} AND company_id IN (SELECT id FROM companies FINAL WHERE organization_id = {organization_id:String} AND network_a_company_id IN {network_a_company_ids:Array(String)} AND domain IN {domains:Array(String)} AND (position(ifNull(if(length(name_key) = lengthUTF8(name_key), name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(domain_key) = lengthUTF8(domain_key), domain_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(domain_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0))
  GROUP BY company_id
) AS metrics ON metrics.company_id = known.id
ORDER BY intDiv(2 * toInt256(metrics.engagements) * 1000000 + toInt256(metrics.impressions), nullIf(2 * toInt256(metrics.impressions), 0)) ASC NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- attributes of companies: companies_attributes
SELECT id, network_a_company_id, name, domain, network_a_url, industry, employee_range, country, logo_url FROM companies FINAL
WHERE organization_id = {organization_id:String} AND id IN {ids:Array(String)}

-- figures of companies: companies_figures
SELECT company_id AS id, if(grouping(date) = 1, '', toString(date)) AS day, sum(delivery.impressions) AS impressions, sum(delivery.clicks) AS clicks, uniqExactIf(campaign_id, delivery.impressions > 0) AS campaigns_reached, uniqExactIf(campaign_id, delivery.engagements > 0) AS campaigns_engaged, if(max(delivery.active), minIf(date, delivery.active), NULL) AS first_seen, if(max(delivery.active), maxIf(date, delivery.active), NULL) AS last_seen
FROM company_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND company_id IN {ids:Array(String)} AND campaign_id IN {campaign_ids:Array(String)}
GROUP BY company_id, date WITH ROLLUP
HAVING id != ''
LIMIT {limit:UInt32}

-- totals of companies, of a month with sums: companies_figures
SELECT company_id AS id, '' AS day, sum(delivery.impressions) AS impressions, sum(delivery.clicks) AS clicks, uniqExactArray(delivery.reached) AS campaigns_reached, uniqExactArray(delivery.engaged) AS campaigns_engaged, if(max(delivery.active), minIf(delivery.first_seen, delivery.active), NULL) AS first_seen, if(max(delivery.active), maxIf(delivery.last_seen, delivery.active), NULL) AS last_seen
FROM company_months AS delivery
WHERE organization_id = {organization_id:String} AND build IN CAST({builds:Array(String)}, 'Array(UInt64)') AND company_id IN {ids:Array(String)}
GROUP BY company_id
LIMIT {limit:UInt32}

-- figures of companies, of a month with sums: companies_figures
SELECT company_id AS id, if(grouping(toStartOfMonth(date)) = 1, '', toString(toStartOfMonth(date))) AS day, sum(delivery.impressions) AS impressions, sum(delivery.clicks) AS clicks, uniqExactArray(delivery.reached) AS campaigns_reached, uniqExactArray(delivery.engaged) AS campaigns_engaged, if(max(delivery.active), minIf(delivery.first_seen, delivery.active), NULL) AS first_seen, if(max(delivery.active), maxIf(delivery.last_seen, delivery.active), NULL) AS last_seen
FROM company_months AS delivery
WHERE organization_id = {organization_id:String} AND build IN CAST({builds:Array(String)}, 'Array(UInt64)') AND company_id IN {ids:Array(String)}
GROUP BY company_id, toStartOfMonth(date) WITH ROLLUP
HAVING id != ''
LIMIT {limit:UInt32}

-- campaigns of a company: company_campaigns
SELECT metrics.*, campaign.name AS name, campaign.status AS status, campaign.objective_type AS objective_type
FROM (
  SELECT campaign_id, sum(delivery.impressions) AS impressions, sum(delivery.clicks) AS clicks, sum(delivery.engagements) AS engagements, minIf(date, delivery.active) AS first_seen, maxIf(date, delivery.active) AS last_seen, max(delivery.active) AS active
  FROM company_deliveries AS delivery FINAL
  WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND company_id = {company_id:String} AND campaign_id IN {campaign_ids:Array(String)}
  GROUP BY campaign_id
  HAVING active
) AS metrics
LEFT JOIN (SELECT id, name, status, objective_type FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = metrics.campaign_id
ORDER BY engagements DESC, impressions DESC, campaign_id ASC
LIMIT {limit:UInt32} OFFSET {offset:UInt64}

-- company by id: company_by_id
SELECT candidate.id AS id, candidate.rank AS rank, company.network_a_company_id AS network_a_company_id, company.name AS name, company.domain AS domain, company.network_a_url AS network_a_url, company.industry AS industry, company.employee_range AS employee_range, company.country AS country, company.logo_url AS logo_url
FROM (
  SELECT id, min(rank) AS rank FROM (
    SELECT id, 1 AS rank FROM companies WHERE organization_id = {organization_id:String} AND id = {id:String}
    UNION ALL (SELECT company_id, 1 FROM company_deliveries WHERE organization_id = {organization_id:String} AND company_id = {id:String} LIMIT 1)
    UNION ALL SELECT id, 2 FROM companies FINAL WHERE organization_id = {organization_id:String} AND network_a_company_id = {id:String}
  ) GROUP BY id
) AS candidate
LEFT JOIN (SELECT * FROM companies FINAL WHERE organization_id = {organization_id:String} AND (id = {id:String} OR network_a_company_id = {id:String})) AS company ON company.id = candidate.id
ORDER BY candidate.rank, id LIMIT {limit:UInt32}

-- companies by domain: companies_by_domain
SELECT id, network_a_company_id, name, domain, network_a_url, industry, employee_range, country, logo_url FROM companies FINAL
WHERE organization_id = {organization_id:String} AND domain = {domain:String}
ORDER BY id LIMIT {limit:UInt32}

-- context: warnings_context
SELECT
  minOrNull(date) AS first_date,
  maxOrNullIf(date, date <= {today:Date}) AS last_date
FROM delivery_days WHERE organization_id = {organization_id:String}

-- totals of campaigns: campaigns_totals
SELECT campaign.currency AS currency, ifNull(sum(metrics.ad_spend), 0) AS ad_spend, ifNull(sum(metrics.clicks), 0) AS clicks
FROM (
  SELECT id FROM campaigns WHERE organization_id = {organization_id:String}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE organization_id = {organization_id:String}
) AS known
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.id
LEFT JOIN (
  SELECT campaign_id, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(delivery.clicks) AS clicks
  FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date}
  GROUP BY campaign_id
) AS metrics ON metrics.campaign_id = known.id
GROUP BY currency ORDER BY count() DESC, currency ASC NULLS LAST

-- totals of campaigns, filtered: campaigns_totals
SELECT campaign.currency AS currency, ifNull(sum(metrics.ad_spend), 0) AS ad_spend, ifNull(sum(metrics.clicks), 0) AS clicks
FROM (
  SELECT id FROM campaigns WHERE organization_id = {organization_id:String}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE organization_id = {organization_id:String}
) AS known
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.id
LEFT JOIN (
  SELECT campaign_id, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(delivery.clicks) AS clicks
  FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND campaign_id IN {campaign_ids:Array(String)} AND campaign_id IN (SELECT known.id FROM (
  SELECT id FROM campaigns WHERE organization_id = {organization_id:String}
  UNION DISTINCT SELECT campaign_id FROM delivery_names WHERE organization_id = {organization_id:String}
) AS known
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.id WHERE known.id IN {campaign_ids:Array(String)} AND campaign.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.campaign_group_name_key) = lengthUTF8(campaign.campaign_group_name_key), campaign.campaign_group_name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.campaign_group_name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0))
  GROUP BY campaign_id
) AS metrics ON metrics.campaign_id = known.id
WHERE known.id IN {campaign_ids:Array(String)} AND campaign.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.campaign_group_name_key) = lengthUTF8(campaign.campaign_group_name_key), campaign.campaign_group_name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.campaign_group_name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0)
GROUP BY currency ORDER BY count() DESC, currency ASC NULLS LAST

-- totals of creatives, filtered: creatives_totals
SELECT campaign.currency AS currency, ifNull(sum(metrics.ad_spend), 0) AS ad_spend, ifNull(sum(metrics.clicks), 0) AS clicks
FROM (
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE organization_id = {organization_id:String}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id != ''
  ) GROUP BY id
) AS known
LEFT JOIN (SELECT * FROM creatives FINAL WHERE organization_id = {organization_id:String}) AS creative ON creative.id = known.id
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.campaign_id
LEFT JOIN (
  SELECT creative_id, sum(toDecimal256(delivery.ad_spend, 12)) AS ad_spend, sum(delivery.clicks) AS clicks
  FROM creative_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND creative_id IN {creative_ids:Array(String)} AND creative_id IN (SELECT known.id FROM (
  SELECT id, min((is_named, campaign_id)).2 AS campaign_id FROM (
    SELECT id, campaign_id, false AS is_named FROM creatives FINAL WHERE organization_id = {organization_id:String}
    UNION ALL
    SELECT creative_id, campaign_id, true FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id != ''
  ) GROUP BY id
) AS known
LEFT JOIN (SELECT * FROM creatives FINAL WHERE organization_id = {organization_id:String}) AS creative ON creative.id = known.id
LEFT JOIN (SELECT * FROM campaigns FINAL WHERE organization_id = {organization_id:String}) AS campaign ON campaign.id = known.campaign_id WHERE known.campaign_id IN {campaign_ids:Array(String)} AND known.id IN {creative_ids:Array(String)} AND creative.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(creative.name_key) = lengthUTF8(creative.name_key), creative.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(creative.headline_key) = lengthUTF8(creative.headline_key), creative.headline_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.headline_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0))
  GROUP BY creative_id
) AS metrics ON metrics.creative_id = known.id
WHERE known.campaign_id IN {campaign_ids:Array(String)} AND known.id IN {creative_ids:Array(String)} AND creative.status_key IN {statuses:Array(String)} AND campaign.objective_type_key IN {objective_types:Array(String)} AND (position(ifNull(if(length(creative.name_key) = lengthUTF8(creative.name_key), creative.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(creative.headline_key) = lengthUTF8(creative.headline_key), creative.headline_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(creative.headline_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(campaign.name_key) = lengthUTF8(campaign.name_key), campaign.name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(campaign.name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0)
GROUP BY currency ORDER BY count() DESC, currency ASC NULLS LAST

-- totals of all companies: companies_totals
SELECT sum(delivery.impressions) AS impressions, sum(delivery.clicks) AS clicks
FROM company_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date}

-- totals of all companies, filtered: companies_totals
SELECT sum(delivery.impressions) AS impressions, sum(delivery.clicks) AS clicks
FROM company_deliveries AS delivery FINAL
WHERE organization_id = {organization_id:String} AND date BETWEEN {start_date:Date} AND {end_date:Date} AND campaign_id IN {campaign_ids:Array(String)} AND company_id IN {company_ids:Array(String)} AND company_id IN (SELECT id FROM companies FINAL WHERE organization_id = {organization_id:String} AND network_a_company_id IN {network_a_company_ids:Array(String)} AND domain IN {domains:Array(String)} AND (position(ifNull(if(length(name_key) = lengthUTF8(name_key), name_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(name_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0 OR position(ifNull(if(length(domain_key) = lengthUTF8(domain_key), domain_key, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(domain_key), '[\\x{0300}-\\x{036f}]', ''), 'øłđðħŧ', 'olddht')), ''), {search:String}) > 0))

-- context of campaigns: warnings_context
SELECT
  minOrNull(date) AS first_date,
  maxOrNullIf(date, date <= {today:Date}) AS last_date,
  (SELECT groupUniqArray(value) FROM (SELECT id AS value FROM campaigns WHERE organization_id = {organization_id:String} AND id IN {campaign_ids:Array(String)} UNION ALL SELECT campaign_id AS value FROM delivery_names WHERE organization_id = {organization_id:String} AND campaign_id IN {campaign_ids:Array(String)})) AS campaign_ids
FROM delivery_days WHERE organization_id = {organization_id:String}

-- context of creatives: warnings_context
SELECT
  minOrNull(date) AS first_date,
  maxOrNullIf(date, date <= {today:Date}) AS last_date,
  (SELECT groupUniqArray(value) FROM (SELECT id AS value FROM creatives WHERE organization_id = {organization_id:String} AND id IN {creative_ids:Array(String)} UNION ALL SELECT creative_id AS value FROM delivery_names WHERE organization_id = {organization_id:String} AND creative_id IN {creative_ids:Array(String)})) AS creative_ids
FROM delivery_days WHERE organization_id = {organization_id:String}

-- context of companies: warnings_context
SELECT
  minOrNull(date) AS first_date,
  maxOrNullIf(date, date <= {today:Date}) AS last_date,
  (SELECT groupUniqArray(value) FROM (SELECT id AS value FROM campaigns WHERE organization_id = {organization_id:String} AND id IN {campaign_ids:Array(String)} UNION ALL SELECT campaign_id AS value FROM delivery_names WHERE organization_id = {organization_id:String} AND campaign_id IN {campaign_ids:Array(String)})) AS campaign_ids,
  (SELECT groupUniqArray(value) FROM (SELECT id AS value FROM companies WHERE organization_id = {organization_id:String} AND id IN {company_ids:Array(String)} UNION ALL SELECT company_id AS value FROM company_deliveries WHERE organization_id = {organization_id:String} AND company_id IN {company_ids:Array(String)})) AS company_ids,
  (SELECT groupUniqArray(value) FROM (SELECT network_a_company_id AS value FROM companies FINAL WHERE organization_id = {organization_id:String} AND network_a_company_id IN {network_a_company_ids:Array(String)})) AS network_a_company_ids,
  (SELECT groupUniqArray(value) FROM (SELECT domain AS value FROM companies FINAL WHERE organization_id = {organization_id:String} AND domain IN {domains:Array(String)})) AS domains
FROM delivery_days WHERE organization_id = {organization_id:String}
