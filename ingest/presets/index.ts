/** Mappings of the exports of known tools (docs/reference/presets.md). */
import { airbyteLinkedinAds } from './airbyte-linkedin-ads.js';
import { fivetranLinkedin } from './fivetran-linkedin.js';
import { ga4 } from './ga4-bigquery.js';
import { hubspot } from './hubspot.js';
import { linkedinCampaignManager } from './linkedin-campaign-manager.js';
import { rudderstack, segment } from './page-events.js';
import type { Preset } from './preset.js';
import { salesforce } from './salesforce.js';
import { singerLinkedinAds } from './singer-linkedin-ads.js';

export const PRESETS: Readonly<Record<string, Preset>> = {
  ...fivetranLinkedin,
  ...airbyteLinkedinAds,
  ...singerLinkedinAds,
  ...linkedinCampaignManager,
  ...hubspot,
  ...salesforce,
  ...segment,
  ...rudderstack,
  ...ga4,
};
