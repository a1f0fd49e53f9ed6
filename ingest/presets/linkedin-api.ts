/** What the connectors for LinkedIn Ads have in common: they pass on the names and values of LinkedIn's API. */
import type { MappingFile } from '../mapping/mapping-file.js';
import type { Preset } from './preset.js';

type Fields = MappingFile['fields'];

/**
 * Metrics of a delivery and their names in the API: https://learn.microsoft.com/linkedin/marketing/integrations/ads-reporting/ads-reporting-schema.
 * Money is in the currency of the account, as conversion values and budgets are.
 */
const METRICS = {
  ad_spend: ['costInLocalCurrency'],
  impressions: ['impressions'],
  clicks: ['clicks'],
  landing_page_clicks: ['landingPageClicks'],
  engagements: ['totalEngagements'],
  // Exports from before LinkedIn had reactions have likes alone.
  reactions: ['reactions', 'likes'],
  comments: ['comments'],
  shares: ['shares'],
  follows: ['follows'],
  video_views: ['videoViews'],
  video_completions: ['videoCompletions'],
  leads: ['oneClickLeads'],
  lead_form_opens: ['oneClickLeadFormOpens'],
  conversions: ['externalWebsiteConversions'],
  conversion_value: ['conversionValueInLocalCurrency'],
};

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Where the metrics of a delivery come from. */
export function metricFields(names: 'camelCase' | 'snake_case'): Fields {
  const inStyle = names === 'camelCase' ? (name: string) => name : snakeCase;
  return Object.fromEntries(Object.entries(METRICS).map(([field, sources]) => [field, sources.map(inStyle)]));
}

/** The id in `urn:li:<entity>:<id>`; values of other entities do not count. */
export const idOf = (entity: string, ...paths: string[]) =>
  paths.map((path) => ({ path, prefix: `urn:li:${entity}:` }));

const PIVOT_VALUES = ['pivotValues', 'pivotValue'];

export const linkedinApi = {
  // Responses by day: https://learn.microsoft.com/linkedin/marketing/integrations/ads-reporting/ads-reporting, 2026-11-25.
  'linkedin-api/adAnalytics': {
    description: 'LinkedIn API, responses of adAnalytics by campaign, creative or company and day',
    stream: 'network-a-deliveries',
    each: 'elements',
    recognize: [
      'dateRange.start.year',
      ['pivotValues', 'pivotValue'],
      ['impressions', 'costInLocalCurrency', 'clicks'],
    ],
    fields: {
      date: {
        template: '{dateRange.start.year}-{dateRange.start.month}-{dateRange.start.day}',
        format: 'YYYY-M-D',
      },
      campaign_id: [
        ...idOf('sponsoredCampaign', ...PIVOT_VALUES),
        { template: 'unknown_{pivotValues[0]}' },
        { template: 'unknown_{pivotValue}' },
      ],
      creative_id: [
        ...idOf('sponsoredCreative', ...PIVOT_VALUES),
        // The campaign as a whole.
        ...idOf('sponsoredCampaign', ...PIVOT_VALUES).map((source) => ({ ...source, keep_prefix: true })),
      ],
      company_id: idOf('organization', ...PIVOT_VALUES),
      ...metricFields('camelCase'),
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;
