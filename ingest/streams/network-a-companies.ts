import { CompanyRecord } from '../../services/advertising/records.js';
import type { Stream } from './stream.js';

export const networkACompanies: Stream<CompanyRecord> = {
  name: 'network-a-companies',
  summary: 'Companies that ads reach, each record whole.',
  schema: CompanyRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  key: (record) => `${record.organization_id}/${record.id}`,
  write: (stores, records) => stores.analytics.insertCompanies(records),
};
