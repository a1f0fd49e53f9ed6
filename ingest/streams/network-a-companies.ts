import { CompanyRecord } from '../../services/advertising/records.js';
import { CompanyListItem } from '../../services/advertising/responses.js';
import { derivedFields, type Stream } from './stream.js';

export const networkACompanies: Stream<CompanyRecord> = {
  name: 'network-a-companies',
  summary: 'Companies that ads reach, each record whole.',
  schema: CompanyRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  domainField: 'domain',
  derivedFields: derivedFields(CompanyListItem, CompanyRecord),
  key: (record) => `${record.organization_id}/${record.id}`,
  write: (stores, records) => stores.analytics.insertCompanies(records),
};
