import { addDays } from '../../services/advertising/calendar.js';
import { DAYS_AHEAD, DeliveryRecord, FIRST_DELIVERY_DATE } from '../../services/advertising/records.js';
import { DAY_MS, utcDate } from '../../services/shared/time.js';
import type { FieldError } from '../../services/shared/validation.js';
import type { Stream } from './stream.js';

export const networkADeliveries: Stream<DeliveryRecord> = {
  name: 'network-a-deliveries',
  summary: 'Figures of a day and campaign, by creative, by company or by both; the newest report wins.',
  schema: DeliveryRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  rowKey: ['organization_id', 'date', 'campaign_id', 'creative_id', 'company_id', 'reported_at'],
  moneyFields: ['ad_spend', 'conversion_value'],
  check(record, acceptedAt) {
    if (!record.creative_id && !record.company_id) {
      return {
        pointer: '',
        code: 'breakdown_required',
        detail: 'A delivery needs creative_id or company_id, or both.',
      };
    }
    return checkDate(record.date, acceptedAt, FIRST_DELIVERY_DATE);
  },
  key: ({ organization_id, date, campaign_id, creative_id, company_id }) =>
    [organization_id, date, campaign_id, creative_id ?? '', company_id ?? ''].join('/'),
  write: (stores, records) => stores.analytics.insertDeliveries(records),
};

/**
 * Checks that a date is allowed (contract 5.1, 5.14). The last allowed date is counted from the acceptance, so that a record means the same
 * whenever it is processed.
 */
export function checkDate(date: string, acceptedAt: number, first: string): FieldError | null {
  const last = lastDate(acceptedAt);
  if (date >= first && date <= last) return null;
  return {
    pointer: '/date',
    code: 'date_out_of_range',
    detail: `date must lie between ${first} and ${last}, two days after today in UTC.`,
  };
}

/**
 * The last allowed date that was computed. Records of a batch usually have the same day, and computing two dates per record took a sixth of
 * the decoding time.
 */
let known = { day: Number.NaN, last: '' };

function lastDate(acceptedAt: number): string {
  const day = Math.floor(acceptedAt / DAY_MS);
  if (known.day !== day) known = { day, last: addDays(utcDate(acceptedAt), DAYS_AHEAD) };
  return known.last;
}
