/** What the connectors for LinkedIn Ads have in common: they pass on the names and values of LinkedIn's API. */
import type { MappingFile } from '../mapping/mapping-file.js';

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
