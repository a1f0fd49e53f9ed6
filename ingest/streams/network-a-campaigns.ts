import { CampaignRecord } from '../../services/advertising/records.js';
import { CampaignItem } from '../../services/advertising/responses.js';
import { derivedFields, type Stream } from './stream.js';

export const networkACampaigns: Stream<CampaignRecord> = {
  name: 'network-a-campaigns',
  summary: 'Advertising campaigns, each record whole.',
  schema: CampaignRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  derivedFields: derivedFields(CampaignItem, CampaignRecord),
  moneyFields: ['daily_budget', 'total_budget'],
  key: (record) => `${record.organization_id}/${record.id}`,
  write: (stores, records) => stores.analytics.insertCampaigns(records),
};
