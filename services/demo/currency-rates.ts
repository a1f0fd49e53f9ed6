import { MAX_AGE_DAYS } from '../advertising/conversion.js';
import type { CurrencyRateRecord } from '../advertising/records.js';
import { DEMO_ORGANIZATION, daysBefore } from './calendar.js';
import { DELIVERY_DAYS } from './campaigns.js';
import { Random } from './random.js';

/** Rates of the dollar for every workday before `day` with money to convert. */
export function currencyRateRecords(day: string): CurrencyRateRecord[] {
  return Array.from({ length: DELIVERY_DAYS + MAX_AGE_DAYS }, (_, back) => daysBefore(day, back + 1))
    .filter((date) => new Date(date).getUTCDay() % 6 !== 0)
    .map((date) => ({
      organization_id: DEMO_ORGANIZATION,
      date,
      currency: 'USD',
      per_eur: `1.${new Random(`${date} USD`).between(1020, 1180)}`,
    }));
}
