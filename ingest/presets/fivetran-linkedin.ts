/** Tables of Fivetran's connector for LinkedIn Ads: https://fivetran.com/docs/connectors/applications/linkedin-ads */
import { metricFields } from './linkedin-api.js';
import type { Preset } from './preset.js';

const LAST_MODIFIED = ['last_modified_time', 'last_modified_at', 'created_time'];

const campaigns: Preset = {
  description: 'Fivetran LinkedIn Ads, table campaign_history',
  stream: 'network-a-campaigns',
  timezone: 'UTC',
  decimal: '.',
  recognize: ['id', 'campaign_group_id', 'last_modified_time'],
  join: {
    groups: {
      table: 'campaign_group_history',
      on: 'campaign_group_id',
      key: 'id',
      newest: LAST_MODIFIED,
    },
    accounts: { table: 'account_history', on: 'account_id', key: 'id', newest: LAST_MODIFIED },
  },
  fields: {
    id: 'id',
    network_a_campaign_id: 'id',
    name: 'name',
    account_id: 'account_id',
    campaign_group_id: 'campaign_group_id',
    campaign_group_name: 'groups.name',
    status: 'status',
    objective_type: 'objective_type',
    format: 'format',
    cost_type: 'cost_type',
    currency: ['accounts.currency', 'daily_budget_currency_code', 'unit_cost_currency_code'],
    daily_budget: 'daily_budget_amount',
    start_date: 'run_schedule_start',
    end_date: 'run_schedule_end',
    updated_at: LAST_MODIFIED,
  },
  ignore: 'rest',
};

const creatives: Preset = {
  description: 'Fivetran LinkedIn Ads, table creative_history',
  stream: 'network-a-creatives',
  timezone: 'UTC',
  decimal: '.',
  recognize: ['id', 'campaign_id', 'created_time'],
  fields: {
    id: 'id',
    network_a_creative_id: 'id',
    campaign_id: 'campaign_id',
    name: 'name',
    status: ['intended_status', 'status'],
    review_status: 'review_status',
    landing_page_url: 'click_uri',
    updated_at: LAST_MODIFIED,
  },
  ignore: 'rest',
};

const deliveries: Preset = {
  description: 'Fivetran LinkedIn Ads, table ad_analytics_by_creative',
  stream: 'network-a-deliveries',
  timezone: 'UTC',
  decimal: '.',
  recognize: ['creative_id', 'day', 'impressions', 'cost_in_local_currency'],
  join: {
    creatives: { table: 'creative_history', on: 'creative_id', key: 'id', newest: LAST_MODIFIED },
  },
  fields: {
    date: 'day',
    campaign_id: ['creatives.campaign_id', { template: 'unknown_{creative_id}' }],
    creative_id: 'creative_id',
    ...metricFields('snake_case'),
    reported_at: '_fivetran_synced',
  },
  ignore: 'rest',
};

// https://github.com/fivetran/dbt_linkedin_source/blob/main/macros/get_ad_analytics_by_campaign_columns.sql, 2026-11-25.
const byCampaign: Preset = {
  ...deliveries,
  description: 'Fivetran LinkedIn Ads, table ad_analytics_by_campaign',
  recognize: ['campaign_id', 'day', 'impressions', 'cost_in_local_currency'],
  join: {},
  fields: {
    ...deliveries.fields,
    campaign_id: 'campaign_id',
    creative_id: { template: 'urn:li:sponsoredCampaign:{campaign_id}' },
  },
};

export const fivetranLinkedin = {
  'fivetran-linkedin/campaign_history': campaigns,
  'fivetran-linkedin/creative_history': creatives,
  'fivetran-linkedin/ad_analytics_by_campaign': byCampaign,
  'fivetran-linkedin/ad_analytics_by_creative': deliveries,
};
