/** The words of the contract, written once more: nothing here is generated from the services, or renamed with them. */
import { expect } from 'chai';
import { STREAM_NAMES } from '../ingest/streams/index.js';
import { METRIC_NAMES } from '../services/advertising/metrics.js';
import { isKnownObjective, isKnownStatus } from '../services/advertising/normalization.js';
import { parseReportParams } from '../services/advertising/report-params.js';
import { warningsOf } from '../services/advertising/warnings.js';
import { endpoints } from '../services/gateway/api.js';
import { PROBLEMS } from '../services/http/problems.js';
import { SCOPES } from '../services/http/scopes.js';
import { openApi } from './support/schema-check.js';
import { wordsOf } from './support/words.js';

/** Contract 1.2. */
const CODES: Record<string, number> = {
  malformed_request: 400,
  invalid_json: 400,
  invalid_body: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  insufficient_credits: 402,
  organization_mismatch: 403,
  insufficient_scope: 403,
  origin_not_allowed: 403,
  contact_not_found: 404,
  audience_not_found: 404,
  company_not_found: 404,
  key_not_found: 404,
  stream_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  ambiguous_company: 409,
  ambiguous_domain: 409,
  audience_exists: 409,
  changed_meanwhile: 409,
  contact_exists: 409,
  contact_suppressed: 409,
  filter_exists: 409,
  idempotency_in_progress: 409,
  outcome_unknown: 409,
  cursor_expired: 410,
  body_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  validation_failed: 422,
  idempotency_key_reused: 422,
  invalid_sql: 422,
  records_rejected: 422,
  page_window_exceeded: 422,
  too_many_companies: 422,
  too_many_outcomes: 422,
  too_many_points: 422,
  missing_rates: 422,
  too_many_values: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  changes_unavailable: 501,
  mcp_unavailable: 501,
  sql_unavailable: 501,
  store_unavailable: 503,
  storage_full: 503,
  overloaded: 503,
  timeout: 504,
};

/** Contract 2.3 and 3.12. */
const SCOPE_WORDS = wordsOf(`
contacts:read contacts:write contacts:erase audiences:read audiences:write visits:read advertising:read
ingest:write keys:write
`);

/** Contract 6.1. */
const STREAM_WORDS = wordsOf(`
contacts audiences website-visits network-a-campaigns network-a-creatives network-a-companies
network-a-deliveries currency-rates
`);

/** Contract 5.7. */
const STATUSES = wordsOf('ACTIVE PAUSED ARCHIVED COMPLETED CANCELED DRAFT PENDING_DELETION REMOVED');
const OBJECTIVES = wordsOf(
  'BRAND_AWARENESS ENGAGEMENT JOB_APPLICANTS LEAD_GENERATION WEBSITE_CONVERSIONS WEBSITE_VISITS VIDEO_VIEWS',
);

/** Contract 5.2. */
const METRICS = wordsOf(`
ad_spend impressions clicks landing_page_clicks engagements reactions comments shares follows
video_views video_completions leads lead_form_opens conversions conversion_value ctr engagement_rate cpc
cpm cost_per_engagement cost_per_lead cost_per_conversion conversion_rate return_on_ad_spend
`);
const MONEY_METRICS = wordsOf(`
ad_spend conversion_value cpc cpm cost_per_engagement cost_per_lead cost_per_conversion
return_on_ad_spend
`);
const COMPANY_METRICS = METRICS.filter((name) => !MONEY_METRICS.includes(name));

/** Contract 5.8. */
const SORTS: Record<string, string[]> = {
  campaigns: [...METRICS, 'name', 'status', 'objective_type', 'start_date'],
  creatives: [...METRICS, 'name', 'status', 'campaign_name', 'review_status'],
  companies: wordsOf(
    'name impressions clicks engagements engagement_rate campaigns_reached campaigns_engaged',
  ),
};

/** Contract 3.1, 4 and 5.3: the fields that operations return. */
const ITEM_FIELDS: Record<string, string[]> = {
  Api_Organization_contact: wordsOf(
    `id organization_id data_import_id contact_id company_id first_name last_name work_emails personal_emails phones network_a_url
job_title functional_area company_name company_network_a_url company_domain company_country company_industry city state_region
country postal_code age dob year_of_birth gender person_image_url company_image_url seniority department audience_ids created_at updated_at`,
  ),
  Api_Audience: wordsOf(
    'id organization_id name description network_a network_b network_c tracking_utm_value created_at updated_at member_count',
  ),
  Api_Website_visit: wordsOf(
    'id type audienceId organizationId startUrl country countryCode city ipAddress browser browserVersion platform hasRecording intentScore createdAt companyDomain',
  ),
  CampaignItem: [
    ...wordsOf(`
id network_a_campaign_id name account_id campaign_group_id campaign_group_name status objective_type
format cost_type currency daily_budget total_budget start_date end_date creatives_count
`),
    ...METRICS,
    ...wordsOf('provisional previous timeseries'),
  ],
  CreativeItem: [
    ...wordsOf(`
id network_a_creative_id campaign_id campaign_name name status review_status format headline
landing_page_url image_url currency
`),
    ...METRICS,
    ...wordsOf('provisional previous timeseries'),
  ],
  CompanyListItem: [
    ...wordsOf('id network_a_company_id name domain network_a_url industry employee_range country logo_url'),
    ...COMPANY_METRICS,
    ...wordsOf('campaigns_reached campaigns_engaged first_seen last_seen previous timeseries'),
  ],
};

/** Contract 5.11. */
const WARNINGS = wordsOf(`
company_metrics_approximate data_delayed data_provisional mixed_currencies partial_month
range_before_first_data range_includes_future timeseries_sparse unknown_campaign_ids unknown_company_ids
unknown_creative_ids unknown_objective_type unknown_status unmatched_domains
`);

interface Field {
  enum?: (string | null)[];
  items?: Field;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  properties?: Record<string, Field>;
  description?: string;
}
/** The values of a field that may also be null. */
const words = (field: Field | undefined) => field?.enum?.filter((word) => word !== null);
const request = (path: string): Record<string, Field> => {
  const found = endpoints.find((each) => each.path === path)?.request as Field | undefined;
  return found?.properties ?? {};
};
const published = (openApi.components as { schemas: Record<string, Field> }).schemas;
const advertising = (name: string) => request(`/api/advertising/network_a/${name}`);

describe('The words of the contract', () => {
  it('are the codes of errors with their statuses', () => {
    const actual = Object.entries(PROBLEMS).map(([code, [status]]) => [code, status]);
    expect(Object.fromEntries(actual)).to.deep.equal(CODES);
  });

  it('are the scopes and the streams', () => {
    expect([...SCOPES].sort()).to.deep.equal([...SCOPE_WORDS].sort());
    expect([...STREAM_NAMES].sort()).to.deep.equal([...STREAM_WORDS].sort());
  });

  it('are the statuses and objectives, in the document too', () => {
    for (const status of [...STATUSES, 'CANCELLED']) expect(isKnownStatus(status), status).to.equal(true);
    for (const objective of OBJECTIVES) expect(isKnownObjective(objective), objective).to.equal(true);
    const { description = '' } = published.CampaignItem?.properties?.status ?? {};
    expect(description.match(/[A-Z]{2,}(?:_[A-Z]+)*/g)).to.deep.equal(STATUSES);
  });

  it('are the metrics and what lists are ordered by', () => {
    for (const [name, sorts] of Object.entries(SORTS)) {
      const { sort_by, sort_direction, metrics, granularity } = advertising(name);
      const names = name === 'companies' ? COMPANY_METRICS : METRICS;
      expect(words(sort_by), name).to.have.members(sorts);
      expect(words(sort_direction)).to.have.members(['asc', 'desc']);
      expect(words(granularity)).to.have.members(['daily', 'monthly']);
      expect(metrics?.items?.enum, name).to.have.members(names);
    }
    expect(advertising('company').metrics?.items?.enum).to.have.members(COMPANY_METRICS);
  });

  it('are the fields of items', () => {
    for (const [name, fields] of Object.entries(ITEM_FIELDS)) {
      expect(Object.keys(published[name]?.properties ?? {}), name).to.have.members(fields);
    }
    const point = ['period', 'start_date', 'end_date', 'provisional'];
    expect(Object.keys(published.AdPoint?.properties ?? {})).to.have.members([...point, ...METRICS]);
    expect(Object.keys(published.CompanyPoint?.properties ?? {})).to.have.members([
      ...point,
      ...COMPANY_METRICS,
    ]);
  });

  it('are the warnings of reports', () => {
    const report = parseReportParams(
      { start_date: '2026-10-02', end_date: '2026-11-30', granularity: 'monthly' },
      METRIC_NAMES,
      'org',
      { now: Date.parse('2026-11-21'), provisionalDays: 7 },
    );
    const warnings = warningsOf({
      report,
      context: { first_date: '2026-10-03', last_date: '2026-10-04' },
      currencies: ['EUR', 'USD'],
      filters: { campaign_ids: ['a'], creative_ids: ['b'], company_ids: ['c'], domains: ['d'] },
      statuses: ['e'],
      objectiveTypes: ['f'],
      sparse: true,
      money: true,
      companyMetrics: true,
    });
    expect(warnings.map((warning) => warning.split(': ')[0])).to.deep.equal(WARNINGS);
  });

  it('are the limits and defaults of requests', () => {
    for (const name of ['campaigns', 'creatives', 'companies', 'company']) {
      const { metrics, campaign_ids, granularity, search, sort_by, sort_direction, ...rest } =
        advertising(name);
      const prefix = name === 'company' ? 'campaign_' : '';
      expect(metrics, name).to.include({ minItems: 1, maxItems: 64 });
      expect(campaign_ids, name).to.include({ maxItems: 100 });
      expect(granularity, name).to.include({ default: 'daily' });
      expect(rest[`${prefix}page`], name).to.include({ minimum: 1, maximum: 1_000_000, default: 1 });
      expect(rest[`${prefix}page_size`], name).to.include({ minimum: 1, maximum: 200, default: 50 });
      if (name === 'company') continue;
      expect(search, name).to.include({ maxLength: 200 });
      expect(sort_direction, name).to.include({ default: 'desc' });
      expect(sort_by?.default, name).to.equal(name === 'companies' ? 'engagements' : 'ad_spend');
    }
    expect(request('/api/contacts/search').limit).to.include({ minimum: 1, maximum: 1000, default: 50 });
    expect(request('/api/contacts/get-many').contact_ids).to.include({ minItems: 1, maxItems: 1000 });
  });
});
