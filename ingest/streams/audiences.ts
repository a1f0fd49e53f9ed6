import { AudienceRecord } from '../../services/audiences/schema.js';
import type { Stream } from './stream.js';

export const audiences: Stream<AudienceRecord> = {
  name: 'audiences',
  summary: 'Named groups of contacts, each record whole.',
  schema: AudienceRecord,
  organizationField: 'organization_id',
  store: 'records',
  deletableBy: ['id'],
  key: (record) => `${record.organization_id}/${record.id}`,
  refresh: (stores) => stores.records.refresh(),
  write: (stores, records) => stores.records.upsertAudiences(records),
};
