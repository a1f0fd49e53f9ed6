/** Tables events_* of Google Analytics 4 in BigQuery: https://support.google.com/analytics/answer/7029846 */
import type { Preset } from './preset.js';

const param = (key: string, kind: string) => `event_params[key=${key}].value.${kind}`;

export const ga4 = {
  'ga4-bigquery/events': {
    description: 'Google Analytics 4, BigQuery export events_*: a visit for each session_start',
    stream: 'website-visits',
    where: { event_name: 'session_start' },
    recognize: ['event_timestamp', 'event_name', 'event_params', 'user_pseudo_id'],
    fields: {
      id: { template: `{user_pseudo_id}.{${param('ga_session_id', 'int_value')}}` },
      createdAt: { path: 'event_timestamp', format: 'unix_us' },
      startUrl: param('page_location', 'string_value'),
      country: 'geo.country',
      city: 'geo.city',
      browser: ['device.web_info.browser', 'device.browser'],
      browserVersion: ['device.web_info.browser_version', 'device.browser_version'],
      platform: 'device.operating_system',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;
