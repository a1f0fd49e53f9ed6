import { CurrencyRateRecord, FIRST_RATE_DATE } from '../../services/advertising/records.js';
import { checkDate } from './network-a-deliveries.js';
import type { Stream } from './stream.js';

export const currencyRates: Stream<CurrencyRateRecord> = {
  name: 'currency-rates',
  summary: 'What one euro was worth in another currency on a day.',
  schema: CurrencyRateRecord,
  organizationField: 'organization_id',
  store: 'analytics',
  moneyFields: ['per_eur'],
  check({ date, per_eur }, acceptedAt) {
    if (Number(per_eur) > 0) return checkDate(date, acceptedAt, FIRST_RATE_DATE);
    return { pointer: '/per_eur', code: 'out_of_range', detail: 'per_eur must be greater than 0.' };
  },
  key: (record) => `${record.organization_id}/${record.currency}/${record.date}`,
  write: (stores, records) => stores.analytics.insertCurrencyRates(records),
};
