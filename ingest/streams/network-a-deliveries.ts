import { DeliveryRecord } from '../../services/advertising/schema.js';
import type { Stream } from './stream.js';

export const networkADeliveries: Stream<DeliveryRecord> = {
  name: 'network-a-deliveries',
  summary: 'Figures of a day and campaign, by creative, by company or by both; the newest report wins.',
  schema: DeliveryRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  moneyFields: ['ad_spend', 'conversion_value'],
  check: (record) =>
    record.creative_id || record.company_id
      ? null
      : {
          pointer: '',
          code: 'breakdown_required',
          detail: 'A delivery needs creative_id or company_id, or both.',
        },
  key: ({ organization_id, date, campaign_id, creative_id, company_id }) =>
    [organization_id, date, campaign_id, creative_id ?? '', company_id ?? ''].join('/'),
  write: (stores, records) => stores.analytics.insertDeliveries(records),
};
