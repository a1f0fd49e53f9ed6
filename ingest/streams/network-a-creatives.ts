import { CreativeRecord } from '../../services/advertising/records.js';
import { CreativeItem } from '../../services/advertising/responses.js';
import { derivedFields, type Stream } from './stream.js';

export const networkACreatives: Stream<CreativeRecord> = {
  name: 'network-a-creatives',
  summary: 'Creatives of campaigns, each record whole.',
  schema: CreativeRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  derivedFields: derivedFields(CreativeItem, CreativeRecord),
  key: (record) => `${record.organization_id}/${record.id}`,
  write: (stores, records) => stores.analytics.insertCreatives(records),
};
