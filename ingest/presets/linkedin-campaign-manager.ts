/** Reports that Campaign Manager of LinkedIn exports by day, in English: UTF-16 with tabs, and five lines before the header. */
import type { Preset } from './preset.js';

const DAY = 'Start Date (in UTC)';
// As the language of the account writes it; only the American order is not ISO 8601.
const US_DATE = ['M/D/YYYY', 'YYYY-MM-DD'];

const figure = (path: string) => ({ path, decimal: '.' as const });

const deliveries: Omit<Preset, 'description' | 'recognize'> = {
  stream: 'network-a-deliveries',
  fields: {
    date: { path: DAY, format: US_DATE },
    campaign_id: 'Campaign ID',
    creative_id: 'Ad ID',
    ad_spend: figure('Total Spent'),
    impressions: figure('Impressions'),
    clicks: figure('Clicks'),
    landing_page_clicks: figure('Clicks to Landing Page'),
    engagements: figure('Total Engagements'),
    reactions: figure('Reactions'),
    comments: figure('Comments'),
    shares: figure('Shares'),
    follows: figure('Follows'),
    video_views: figure('Video Views'),
    video_completions: figure('Video Completions'),
    leads: figure('Leads'),
    lead_form_opens: figure('Lead Forms Opened'),
    conversions: figure('Conversions'),
    conversion_value: figure('Total Conversion Value'),
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
      daily_budget: figure('Daily Budget'),
      total_budget: figure('Total Budget'),
      start_date: { path: 'Campaign Start Date', format: US_DATE },
      end_date: { path: 'Campaign End Date', format: US_DATE },
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
