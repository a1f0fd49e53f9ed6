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
  check({ date, currency, per_eur }, acceptedAt) {
    const rate = Number(per_eur);
    const rule = currency === 'EUR' ? rate !== 1 && 'be 1 for the euro' : rate <= 0 && 'be greater than 0';
    if (rule) return { pointer: '/per_eur', code: 'out_of_range', detail: `per_eur must ${rule}.` };
    return checkDate(date, acceptedAt, FIRST_RATE_DATE);
  },
  key: (record) => `${record.organization_id}/${record.currency}/${record.date}`,
  write: (stores, records) => stores.analytics.insertCurrencyRates(records),
};
