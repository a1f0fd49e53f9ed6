import { CampaignRecord } from '../../services/advertising/records.js';
import type { Stream } from './stream.js';

export const networkACampaigns: Stream<CampaignRecord> = {
  name: 'network-a-campaigns',
  summary: 'Advertising campaigns, each record whole.',
  schema: CampaignRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  moneyFields: ['daily_budget', 'total_budget'],
  key: (record) => `${record.organization_id}/${record.id}`,
  write: (stores, records) => stores.analytics.insertCampaigns(records),
};
