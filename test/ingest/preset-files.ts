import type { StreamName } from '../../ingest/streams/index.js';

/** A file of test/data/presets, the stream it is for, and the file of its records if that has another name. */
export type PresetFile = [file: string, stream: StreamName, expected?: string];

export const PRESET_FILES: Record<string, PresetFile> = {
  'ecb/eurofxref': ['ecb/eurofxref-hist.csv', 'currency-rates'],
  'apollo/contacts': ['apollo/contacts.csv', 'contacts'],
  'zoominfo/contacts': ['zoominfo/contacts.csv', 'contacts'],
  'zoho/contacts': ['zoho/contacts.csv', 'contacts'],
  'marketo/leads': ['marketo/leads.csv', 'contacts'],
  'linkedin-connections/contacts': ['linkedin-connections/Connections.csv', 'contacts'],
  'rb2b/contacts': ['rb2b/visitors.ndjson', 'contacts'],
  'rb2b/visits': ['rb2b/visitors.ndjson', 'website-visits', 'rb2b/visits.expected.ndjson'],
  'salesforce/contacts-report': ['salesforce/report.csv', 'contacts'],
  'fivetran-linkedin/ad_analytics_by_campaign': [
    'fivetran-linkedin/ad_analytics_by_campaign.csv',
    'network-a-deliveries',
  ],
  'linkedin-campaign-manager/ad-sets': [
    'linkedin-campaign-manager/ad_set_performance_report.csv',
    'network-a-campaigns',
  ],
  'linkedin-api/adAnalytics': ['linkedin-api/adAnalytics.ndjson', 'network-a-deliveries'],
  'posthog/events': ['posthog/events.ndjson', 'website-visits'],
  'matomo/visits': ['matomo/visits.ndjson', 'website-visits'],
  'leadfeeder/visits': ['leadfeeder/visits.ndjson', 'website-visits'],
  'leadfeeder/leads': ['leadfeeder/leads.ndjson', 'network-a-companies'],
  'leadfeeder/web-visits': ['leadfeeder/web-visits.ndjson', 'website-visits'],
  'leadfeeder/web-visit-companies': ['leadfeeder/web-visit-companies.ndjson', 'network-a-companies'],
  'clearbit/reveal': ['clearbit/reveal.ndjson', 'network-a-companies'],
  'snowplow/events': ['snowplow/events.csv', 'website-visits'],
};
