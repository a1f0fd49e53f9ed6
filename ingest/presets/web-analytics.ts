/** Visits from tools that analyze a website. */
import type { Preset } from './preset.js';

export const posthog = {
  // https://posthog.com/docs/cdp/batch-exports/s3, model events, as JSON lines or CSV; read 2026-11-25.
  'posthog/events': {
    description: 'PostHog, batch export of events: a visit for each $pageview',
    stream: 'website-visits',
    timezone: 'UTC',
    where: { event: '$pageview' },
    recognize: ['uuid', 'event', 'distinct_id', 'properties', 'timestamp'],
    fields: {
      id: 'uuid',
      createdAt: 'timestamp',
      startUrl: 'properties.$current_url',
      country: 'properties.$geoip_country_name',
      countryCode: 'properties.$geoip_country_code',
      city: 'properties.$geoip_city_name',
      ipAddress: 'properties.$ip',
      browser: 'properties.$browser',
      browserVersion: 'properties.$browser_version',
      platform: 'properties.$os',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;

export const matomo = {
  // Live.getLastVisitsDetails: https://developer.matomo.org/api-reference/reporting-api#Live, read 2026-11-25.
  'matomo/visits': {
    description: 'Matomo, Live.getLastVisitsDetails',
    stream: 'website-visits',
    recognize: ['idVisit', 'visitorId', 'firstActionTimestamp'],
    fields: {
      id: 'idVisit',
      createdAt: { path: 'firstActionTimestamp', format: 'unix_s' },
      startUrl: 'actionDetails[0].url',
      country: 'country',
      countryCode: { path: 'countryCode', lookup: { xx: '' } },
      city: 'city',
      ipAddress: 'visitIp',
      browser: 'browserName',
      browserVersion: 'browserVersion',
      platform: 'operatingSystemName',
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;

export const snowplow = {
  // Table atomic.events: https://github.com/snowplow/snowplow/wiki/canonical-event-model, read 2026-11-25.
  'snowplow/events': {
    description: 'Snowplow, atomic.events: a visit for each page_view',
    stream: 'website-visits',
    timezone: 'UTC',
    where: { event: 'page_view' },
    recognize: ['event_id', 'event', 'collector_tstamp', 'page_url'],
    fields: {
      id: 'event_id',
      createdAt: ['derived_tstamp', 'collector_tstamp'],
      startUrl: 'page_url',
      countryCode: 'geo_country',
      city: 'geo_city',
      ipAddress: 'user_ipaddress',
      browser: ['br_name', 'br_family'],
      browserVersion: 'br_version',
      platform: ['os_name', 'os_family'],
    },
    ignore: 'rest',
  },
} satisfies Record<string, Preset>;
