/** Page views of Segment and RudderStack, whose events and tables have the same names. */
import type { Preset } from './preset.js';

/** https://www.twilio.com/docs/segment/connections/spec/page, https://www.rudderstack.com/docs/event-spec/standard-events/page/ */
const pageEvents = (source: string, marks: string[], address: string[]): Preset => ({
  description: `${source}, page events`,
  stream: 'website-visits',
  where: { type: 'page' },
  recognize: ['messageId', 'type', 'timestamp', 'context', ...marks],
  fields: {
    id: 'messageId',
    createdAt: 'timestamp',
    startUrl: ['properties.url', 'context.page.url'],
    country: 'context.location.country',
    city: 'context.location.city',
    ipAddress: address,
    platform: ['context.userAgentData.platform', 'context.os.name'],
  },
  ignore: 'rest',
});

/** https://www.twilio.com/docs/segment/connections/storage/warehouses/schema, https://www.rudderstack.com/docs/data-warehouse-integrations/warehouse-schemas/ */
const pagesTable = (source: string, marks: string[], address: string[]): Preset => ({
  description: `${source}, table pages of the warehouse`,
  stream: 'website-visits',
  timezone: 'UTC',
  recognize: ['id', 'anonymous_id', 'received_at', 'uuid_ts', 'timestamp', 'url', ...marks],
  fields: {
    id: 'id',
    createdAt: 'timestamp',
    startUrl: ['url', 'context_page_url'],
    country: 'context_location_country',
    city: 'context_location_city',
    ipAddress: address,
    platform: ['context_user_agent_data_platform', 'context_os_name'],
  },
  ignore: 'rest',
});

export const segment = {
  'segment/page': pageEvents('Segment', [], ['context.ip']),
  'segment/pages': pagesTable('Segment', [], ['context_ip']),
};

export const rudderstack = {
  'rudderstack/page': pageEvents('RudderStack', ['rudderId'], ['request_ip', 'context.ip']),
  'rudderstack/pages': pagesTable('RudderStack', ['channel'], ['context_request_ip', 'context_ip']),
};
