import { VisitRecord } from '../../services/visits/schema.js';
import type { Stream } from './stream.js';

export const websiteVisits: Stream<VisitRecord> = {
  name: 'website-visits',
  summary: 'Visits to a site, in camelCase; the first record of an id and moment stays.',
  schema: VisitRecord,
  organizationField: 'organizationId',
  store: 'records',
  domainField: 'companyDomain',
  normalize(record) {
    record.type ??= 'audience';
  },
  key: (record) => `${record.organizationId}/${record.id}`,
  refresh: (stores) => stores.records.refresh(),
  // Writes to the records store first, so that searches find everything that SQL reads.
  async write(stores, records) {
    await stores.records.insertVisits(records);
    if (!stores.records.copied.readVisits) await stores.analytics.insertVisits(records);
  },
};
