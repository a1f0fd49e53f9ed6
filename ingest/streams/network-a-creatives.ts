import { CreativeRecord } from '../../services/advertising/schema.js';
import type { Stream } from './stream.js';

export const networkACreatives: Stream<CreativeRecord> = {
  name: 'network-a-creatives',
  summary: 'Creatives of campaigns, each record whole.',
  schema: CreativeRecord,
  organizationField: 'organization_id',
  versionField: 'updated_at',
  store: 'analytics',
  key: (record) => `${record.organization_id}/${record.id}`,
  write: (stores, records, acceptedAt, fence) => stores.analytics.insertCreatives(records, acceptedAt, fence),
};
