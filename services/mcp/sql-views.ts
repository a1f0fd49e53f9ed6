/** The views that SQL reads, for a model that writes statements. A test compares them with the views of the engine. */

const COUNTS =
  'impressions, clicks, landing_page_clicks, engagements, reactions, comments, shares, follows, video_views, video_completions, leads, lead_form_opens, conversions';

const VIEWS: Readonly<Record<string, string>> = {
  campaigns:
    'campaign_id, network_a_campaign_id, name, account_id, campaign_group_id, campaign_group_name, status, objective_type, format, cost_type, currency, daily_budget, total_budget, start_date, end_date, updated_at',
  creatives:
    'creative_id, campaign_id, network_a_creative_id, name, status, review_status, format, headline, landing_page_url, image_url, updated_at',
  companies:
    'company_id, network_a_company_id, name, domain, network_a_url, industry, employee_range, country, logo_url, updated_at',
  campaign_daily: `date, campaign_id, ad_spend, ${COUNTS}, conversion_value`,
  creative_daily: `date, campaign_id, creative_id, ad_spend, ${COUNTS}, conversion_value`,
  company_daily: `date, company_id, campaign_id, ${COUNTS}`,
  currency_rates: 'date, currency, per_eur',
  contacts:
    'contact_id, company_id, first_name, last_name, work_emails, personal_emails, phones, network_a_url, job_title, functional_area, company_name, company_network_a_url, company_domain, company_country, company_industry, city, state_region, country, postal_code, age, dob, year_of_birth, gender, person_image_url, company_image_url, seniority, department, audience_ids, created_at, updated_at',
  audiences:
    'audience_id, name, description, network_a, network_b, network_c, tracking_utm_value, created_at',
  memberships: 'audience_id, contact_id',
  website_visits:
    'visit_id, created_at, audience_id, start_url, country, country_code, city, ip_address, browser, browser_version, platform, has_recording, intent_score, company_domain',
};

/** Columns by view. Each view also has `organization_id`, which is always that of the key. */
export const SQL_VIEWS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(VIEWS).map(([view, columns]) => [view, columns.split(', ')]),
);

export const SQL_HELP = `Views: ${Object.entries(VIEWS)
  .map(([view, columns]) => `${view}(${columns})`)
  .join('; ')
  .replaceAll(
    COUNTS,
    '…counts',
  )}. …counts are ${COUNTS}. Emails, phones and audience_ids are arrays. Days are UTC. Money is in the currency of its campaign: never add up currencies. A rate is a sum divided by a sum. LEFT JOIN campaigns and companies, because figures may lack their record.`;
