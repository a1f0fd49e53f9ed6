/** Messages of the Singer tap for LinkedIn Ads: https://github.com/singer-io/tap-linkedin-ads */
import { idOf, metricFields } from './linkedin-api.js';
import type { Preset } from './preset.js';

const messages = (stream: string, mapping: Omit<Preset, 'description'>): Preset => ({
  description: `Singer tap-linkedin-ads, stream ${stream}`,
  envelope: ['record'],
  where: { type: 'RECORD', stream },
  ignore: 'rest',
  ...mapping,
});

const report = (fields: Preset['fields']): Omit<Preset, 'description'> => ({
  stream: 'network-a-deliveries',
  recognize: ['start_at', 'pivot_value', 'impressions'],
  fields: { date: 'start_at', ...fields, ...metricFields('snake_case'), reported_at: 'time_extracted' },
});

export const singerLinkedinAds = {
  'singer-linkedin-ads/campaigns': messages('campaigns', {
    stream: 'network-a-campaigns',
    recognize: ['id', 'campaign_group_id', 'account_id'],
    join: {
      groups: {
        table: 'campaign_groups',
        on: 'campaign_group_id',
        key: 'id',
        where: { stream: 'campaign_groups' },
      },
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
      format: ['format', 'type'],
      cost_type: 'cost_type',
      currency: ['daily_budget.currency_code', 'unit_cost.currency_code'],
      daily_budget: 'daily_budget.amount',
      start_date: 'run_schedule.start',
      end_date: 'run_schedule.end',
      updated_at: 'last_modified_time',
    },
  }),

  'singer-linkedin-ads/creatives': messages('creatives', {
    stream: 'network-a-creatives',
    recognize: ['id', 'campaign_id', 'intended_status'],
    fields: {
      id: idOf('sponsoredCreative', 'id'),
      network_a_creative_id: idOf('sponsoredCreative', 'id'),
      campaign_id: 'campaign_id',
      status: 'intended_status',
      updated_at: 'last_modified_at',
    },
  }),

  'singer-linkedin-ads/ad_analytics_by_campaign': messages(
    'ad_analytics_by_campaign',
    report({
      campaign_id: 'campaign_id',
      creative_id: 'pivot_value',
    }),
  ),

  'singer-linkedin-ads/ad_analytics_by_creative': messages('ad_analytics_by_creative', {
    ...report({
      campaign_id: ['creatives.campaign_id', { template: 'unknown_{creative_id}' }],
      creative_id: 'creative_id',
    }),
    join: { creatives: { table: 'creatives', on: 'pivot_value', key: 'id', where: { stream: 'creatives' } } },
  }),
};
