/**
 * Streams of Airbyte's connector for LinkedIn Ads (https://docs.airbyte.com/integrations/sources/linkedin-ads): its messages, the raw form
 * of a destination, or flattened. Versions before 5 name the entities of a report in `pivotValue` and `pivotValues` alone.
 */
import { idOf, metricFields } from './linkedin-api.js';
import type { Preset } from './preset.js';

const ENVELOPE = ['data', 'record.data', '_airbyte_data'];

const extractedAt = ['_airbyte_extracted_at', '_airbyte_emitted_at', 'emitted_at', 'record.emitted_at'];

/** Where a message names its stream: of the connector, or of its protocol. */
const ofStream = (stream: string) => ({ stream: [stream, ''], 'record.stream': [stream, ''] });

const entity = (stream: string, mapping: Omit<Preset, 'description'>): Preset => ({
  description: `Airbyte LinkedIn Ads, stream ${stream}`,
  envelope: ENVELOPE,
  decimal: '.',
  where: ofStream(stream),
  // The other messages of the protocol: https://docs.airbyte.com/platform/understanding-airbyte/airbyte-protocol
  unless: { type: ['LOG', 'STATE', 'TRACE', 'CONTROL', 'CATALOG', 'SPEC', 'CONNECTION_STATUS'] },
  ignore: 'rest',
  ...mapping,
});

const report = (stream: string, pivot: string, fields: Preset['fields']): Preset =>
  entity(stream, {
    stream: 'network-a-deliveries',
    where: { ...ofStream(stream), pivot: [pivot, ''] },
    recognize: [
      'start_date',
      'end_date',
      ['pivotValues', 'string_of_pivot_values', 'pivotValue'],
      ['costInLocalCurrency', 'costInUsd', 'impressions', 'clicks'],
    ],
    fields: {
      date: 'start_date',
      ...fields,
      ...metricFields('camelCase'),
      reported_at: extractedAt.map((path) => ({ path, format: ['unix_ms', 'iso'], timezone: 'UTC' })),
    },
  });

const PIVOT_VALUES = ['string_of_pivot_values', 'pivotValues[0]'];

export const airbyteLinkedinAds = {
  'airbyte-linkedin-ads/campaigns': entity('campaigns', {
    stream: 'network-a-campaigns',
    recognize: ['id', 'campaignGroup', 'account', 'costType'],
    join: {
      groups: {
        table: 'campaign_groups',
        on: idOf('sponsoredCampaignGroup', 'campaignGroup'),
        key: 'id',
        where: { stream: 'campaign_groups' },
      },
    },
    fields: {
      id: 'id',
      network_a_campaign_id: 'id',
      name: 'name',
      account_id: idOf('sponsoredAccount', 'account'),
      campaign_group_id: idOf('sponsoredCampaignGroup', 'campaignGroup'),
      campaign_group_name: 'groups.name',
      status: 'status',
      objective_type: 'objectiveType',
      format: 'format',
      cost_type: 'costType',
      currency: ['dailyBudget.currencyCode', 'totalBudget.currencyCode', 'unitCost.currencyCode'],
      daily_budget: 'dailyBudget.amount',
      total_budget: 'totalBudget.amount',
      start_date: { path: 'runSchedule.start', format: 'unix_ms', timezone: 'UTC' },
      end_date: { path: 'runSchedule.end', format: 'unix_ms', timezone: 'UTC' },
      updated_at: 'lastModified',
    },
  }),

  'airbyte-linkedin-ads/creatives': entity('creatives', {
    stream: 'network-a-creatives',
    recognize: ['id', 'campaign', 'intendedStatus'],
    fields: {
      id: idOf('sponsoredCreative', 'id'),
      network_a_creative_id: idOf('sponsoredCreative', 'id'),
      campaign_id: idOf('sponsoredCampaign', 'campaign'),
      name: 'name',
      status: 'intendedStatus',
      review_status: 'review.status',
      headline: 'content.textAd.headline',
      landing_page_url: [
        'content.textAd.landingPage',
        'content.spotlight.landingPage',
        'content.follow.callToAction',
      ],
      updated_at: { path: 'lastModifiedAt', format: ['unix_ms', 'iso'] },
    },
  }),

  // The same figures as the report by creative, for an account that syncs no creatives.
  'airbyte-linkedin-ads/ad_campaign_analytics': report('ad_campaign_analytics', 'CAMPAIGN', {
    campaign_id: idOf('sponsoredCampaign', ...PIVOT_VALUES),
    creative_id: PIVOT_VALUES,
  }),

  'airbyte-linkedin-ads/ad_creative_analytics': {
    ...report('ad_creative_analytics', 'CREATIVE', {
      campaign_id: [
        ...idOf('sponsoredCampaign', 'creatives.campaign'),
        ...PIVOT_VALUES.map((path) => ({ template: `unknown_{${path}}` })),
      ],
      creative_id: idOf('sponsoredCreative', ...PIVOT_VALUES),
    }),
    join: { creatives: { table: 'creatives', on: PIVOT_VALUES, key: 'id', where: { stream: 'creatives' } } },
  },

  'airbyte-linkedin-ads/ad_member_company_analytics': report(
    'ad_member_company_analytics',
    'MEMBER_COMPANY',
    {
      campaign_id: ['sponsoredCampaign', ...idOf('sponsoredCampaign', 'pivotValue')],
      company_id: idOf('organization', ...PIVOT_VALUES),
    },
  ),
};
