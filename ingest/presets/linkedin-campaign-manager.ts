/** Reports that Campaign Manager of LinkedIn exports by day, in English: UTF-16 with tabs, and five lines before the header. */
import type { Preset } from './preset.js';

const DAY = 'Start Date (in UTC)';

const deliveries: Omit<Preset, 'description' | 'recognize'> = {
  stream: 'network-a-deliveries',
  period_column: DAY,
  fields: {
    date: DAY,
    campaign_id: 'Campaign ID',
    creative_id: 'Ad ID',
    ad_spend: 'Total Spent',
    impressions: 'Impressions',
    clicks: 'Clicks',
    landing_page_clicks: 'Clicks to Landing Page',
    engagements: 'Total Engagements',
    reactions: 'Reactions',
    comments: 'Comments',
    shares: 'Shares',
    follows: 'Follows',
    video_views: 'Video Views',
    video_completions: 'Video Completions',
    leads: 'Leads',
    lead_form_opens: 'Lead Forms Opened',
    conversions: 'Conversions',
    conversion_value: 'Total Conversion Value',
  },
  ignore: 'rest',
};

const COLUMNS = [DAY, 'Campaign ID', 'Total Spent', 'Impressions'];

export const linkedinCampaignManager = {
  'linkedin-campaign-manager/ad-performance': {
    ...deliveries,
    description: 'LinkedIn Campaign Manager, report by ad and day',
    recognize: [...COLUMNS, 'Ad ID'],
  },
  'linkedin-campaign-manager/campaign-performance': {
    ...deliveries,
    description: 'LinkedIn Campaign Manager, report by campaign and day',
    recognize: COLUMNS,
    fields: { ...deliveries.fields, creative_id: { template: 'urn:li:sponsoredCampaign:{Campaign ID}' } },
  },
  'linkedin-campaign-manager/campaigns': {
    description: 'LinkedIn Campaign Manager, campaigns of a report',
    stream: 'network-a-campaigns',
    period_column: DAY,
    recognize: COLUMNS,
    fields: {
      id: 'Campaign ID',
      network_a_campaign_id: 'Campaign ID',
      name: 'Campaign Name',
      campaign_group_id: 'Campaign Group ID',
      campaign_group_name: 'Campaign Group Name',
      status: 'Campaign Status',
      objective_type: 'Campaign Objective',
      format: 'Campaign Type',
      cost_type: 'Cost Type',
      currency: 'Currency',
      daily_budget: 'Daily Budget',
      total_budget: 'Total Budget',
      start_date: 'Campaign Start Date',
      end_date: 'Campaign End Date',
    },
    ignore: 'rest',
  },
  'linkedin-campaign-manager/ads': {
    description: 'LinkedIn Campaign Manager, ads of a report',
    stream: 'network-a-creatives',
    recognize: [...COLUMNS, 'Ad ID'],
    fields: {
      id: 'Ad ID',
      network_a_creative_id: 'Ad ID',
      campaign_id: 'Campaign ID',
      name: ['Creative Name', 'Ad Name', 'DSC Name'],
      status: 'Creative Status',
      headline: 'Ad Headline',
      landing_page_url: 'Click URL',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;
