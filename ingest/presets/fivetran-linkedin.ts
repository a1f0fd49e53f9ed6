/** Tables of Fivetran's connector for LinkedIn Ads: https://fivetran.com/docs/connectors/applications/linkedin-ads */
import type { Preset } from './preset.js';

const LAST_MODIFIED = ['last_modified_time', 'last_modified_at', 'created_time'];
const TO_DOLLARS = { from: 'cost_in_local_currency', to: 'cost_in_usd' };

const campaigns: Preset = {
  description: 'Fivetran LinkedIn Ads, table campaign_history',
  stream: 'network-a-campaigns',
  timezone: 'UTC',
  recognize: ['id', 'campaign_group_id', 'last_modified_time'],
  join: {
    groups: { table: 'campaign_group_history', on: 'campaign_group_id', key: 'id', newest: LAST_MODIFIED },
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
    currency: { value: 'USD' },
    updated_at: LAST_MODIFIED,
  },
  ignore: 'rest',
};

const creatives: Preset = {
  description: 'Fivetran LinkedIn Ads, table creative_history',
  stream: 'network-a-creatives',
  timezone: 'UTC',
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
  description: 'Fivetran LinkedIn Ads, table ad_analytics_by_creative, in US dollars',
  stream: 'network-a-deliveries',
  timezone: 'UTC',
  recognize: ['creative_id', 'day', 'impressions'],
  join: {
    creatives: { table: 'creative_history', on: 'creative_id', key: 'id', newest: LAST_MODIFIED },
  },
  fields: {
    date: 'day',
    campaign_id: ['creatives.campaign_id', { template: 'unknown_{creative_id}' }],
    creative_id: 'creative_id',
    ad_spend: ['cost_in_usd', { path: 'cost_in_local_currency', exchange: TO_DOLLARS }],
    impressions: 'impressions',
    clicks: 'clicks',
    landing_page_clicks: 'landing_page_clicks',
    engagements: 'total_engagements',
    reactions: 'likes',
    comments: 'comments',
    shares: 'shares',
    follows: 'follows',
    video_views: 'video_views',
    video_completions: 'video_completions',
    leads: 'one_click_leads',
    lead_form_opens: 'one_click_lead_form_opens',
    conversions: 'external_website_conversions',
    conversion_value: { path: 'conversion_value_in_local_currency', exchange: TO_DOLLARS },
  },
  ignore: 'rest',
};

export const fivetranLinkedin = {
  'fivetran-linkedin-campaigns': campaigns,
  'fivetran-linkedin-creatives': creatives,
  'fivetran-linkedin-deliveries': deliveries,
};
