import type { StreamName } from '../client/index.js';

/** Label, view and the name of one record, by stream. */
export const STREAMS: Record<StreamName, readonly [label: string, view: string, one: string]> = {
  contacts: ['Contacts', '/contacts', 'contact'],
  audiences: ['Audiences', '/audiences', 'audience'],
  'website-visits': ['Visits', '/visits', 'visit'],
  'network-a-campaigns': ['Campaigns', '/advertising', 'campaign'],
  'network-a-creatives': ['Creatives', '/advertising', 'creative'],
  'network-a-companies': ['Advertising companies', '/advertising', 'company'],
  'network-a-deliveries': ['Deliveries', '/advertising', 'delivery'],
  'currency-rates': ['Currency rates', '/advertising', 'rate'],
};
