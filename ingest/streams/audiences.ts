import { AudienceRecord } from '../../services/audiences/schema.js';
import type { Stream } from './stream.js';

export const audiences: Stream<AudienceRecord> = {
  name: 'audiences',
  summary: 'Named groups of contacts, each record whole.',
  schema: AudienceRecord,
  organizationField: 'organization_id',
  store: 'search',
  deletableBy: ['id'],
  key: (record) => `${record.organization_id}/${record.id}`,
  refresh: (stores) => stores.search.refresh(),
  write: (stores, records) => stores.search.upsertAudiences(records),
};
