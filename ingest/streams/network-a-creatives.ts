import { CreativeRecord } from '../../services/advertising/records.js';
import type { Stream } from './stream.js';

export const networkACreatives: Stream<CreativeRecord> = {
  name: 'network-a-creatives',
  summary: 'Creatives of campaigns, each record whole.',
  schema: CreativeRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  key: (record) => `${record.organization_id}/${record.id}`,
  write: (stores, records) => stores.analytics.insertCreatives(records),
};
