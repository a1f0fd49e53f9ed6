/** Mappings of the exports of known tools (docs/reference/presets.md). */
import { airbyteLinkedinAds } from './airbyte-linkedin-ads.js';
import { fivetranLinkedin } from './fivetran-linkedin.js';
import { ga4 } from './ga4-bigquery.js';
import { hubspot } from './hubspot.js';
import { linkedinApi } from './linkedin-api.js';
import { linkedinCampaignManager } from './linkedin-campaign-manager.js';
import { rudderstack, segment } from './page-events.js';
import type { Preset } from './preset.js';
import { apollo, linkedinConnections, marketo, rb2b, zoominfo } from './prospecting.js';
import { salesforce } from './salesforce.js';
import { singerLinkedinAds } from './singer-linkedin-ads.js';
import { matomo, posthog, snowplow } from './web-analytics.js';

export const PRESETS: Readonly<Record<string, Preset>> = {
  ...fivetranLinkedin,
  ...airbyteLinkedinAds,
  ...singerLinkedinAds,
  ...linkedinApi,
  ...linkedinCampaignManager,
  ...hubspot,
  ...salesforce,
  ...apollo,
  ...zoominfo,
  ...marketo,
  ...linkedinConnections,
  ...rb2b,
  ...segment,
  ...rudderstack,
  ...ga4,
  ...posthog,
  ...matomo,
  ...snowplow,
};
