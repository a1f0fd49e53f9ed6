/** Records of the advertising streams. */
import type { Static, TSchema } from 'typebox';
import {
  date,
  dateTime,
  id,
  integer,
  optional,
  organizationId,
  strictObject,
  Type,
} from '../shared/schema.js';
import { campaignAttributes, companyAttributes, creativeAttributes, schemasOf } from './attributes.js';
import { SUMMED_METRICS, SUMMED_NAMES, type SummedMetric } from './metrics.js';
import { currencyCode, moneyInput } from './money.js';

const updatedAt = optional(dateTime('Version of the record: an older one changes nothing.'));

/** A record of the `network-a-campaigns` stream. Each record is complete and replaces the record before. */
export const CampaignRecord = strictObject({
  organization_id: organizationId,
  id: id('Identifier of the campaign.'),
  ...schemasOf(campaignAttributes, 'record'),
  updated_at: updatedAt,
});
export type CampaignRecord = Static<typeof CampaignRecord>;

/** A record of the `network-a-creatives` stream. */
export const CreativeRecord = strictObject({
  organization_id: organizationId,
  id: id('Identifier of the creative.'),
  campaign_id: id('Campaign the creative belongs to.'),
  ...schemasOf(creativeAttributes, 'record'),
  updated_at: updatedAt,
});
export type CreativeRecord = Static<typeof CreativeRecord>;

/** A record of the `network-a-companies` stream. */
export const CompanyRecord = strictObject({
  organization_id: organizationId,
  id: id('Identifier of the company.'),
  ...schemasOf(companyAttributes, 'record'),
  updated_at: updatedAt,
});
export type CompanyRecord = Static<typeof CompanyRecord>;

/** Maximum count. Sums of counts are exact up to 2^53, like JSON numbers, and wrap around at 2^64. */
const countInput = (description: string) => integer(description, { minimum: 0 });

/** Range of days for deliveries (contract 5.1). */
export const FIRST_DELIVERY_DATE = '2000-01-01';
export const DAYS_AHEAD = 2;

/** A record of the `network-a-deliveries` stream (contract 5.1). Absent metrics are 0. */
export const DeliveryRecord = strictObject({
  organization_id: organizationId,
  date: date(`Day of the figures, UTC: from ${FIRST_DELIVERY_DATE} to two days after today.`),
  campaign_id: id('Campaign that delivered.'),
  creative_id: optional(id('Creative the figures are broken down by.', { examples: ['creative-1'] })),
  company_id: optional(id('Company the figures are broken down by.')),
  ...(Object.fromEntries(
    SUMMED_NAMES.map((name) => {
      const { kind, description } = SUMMED_METRICS[name];
      return [name, optional(kind === 'money' ? moneyInput(description) : countInput(description))];
    }),
  ) as Record<SummedMetric, ReturnType<typeof optional<TSchema>>>),
  reported_at: optional(dateTime('When the network reported the row: the newest wins.')),
});
export type DeliveryRecord = {
  organization_id: string;
  date: string;
  campaign_id: string;
  creative_id?: string | null;
  company_id?: string | null;
  reported_at?: string | null;
} & {
  [K in SummedMetric]?:
    | ((typeof SUMMED_METRICS)[K]['kind'] extends 'money' ? string | number : number)
    | null;
};

/** First day of the euro. */
export const FIRST_RATE_DATE = '1999-01-01';

/** A record of the `currency-rates` stream (contract 5.14). */
export const CurrencyRateRecord = strictObject({
  organization_id: organizationId,
  date: date(`Day of the rate: from ${FIRST_RATE_DATE} to two days after today.`),
  currency: currencyCode('Currency, ISO 4217. The euro itself needs no rate.'),
  per_eur: Type.Unsafe<string | number>({
    ...moneyInput('Units of the currency for one euro.'),
    title: 'a decimal number with at most 12 digits before the point',
    // The pattern limits digits, so that an amount times a rate fits into 256 bits.
    pattern: '^[0-9]{1,12}(\\.[0-9]+)?$',
    exclusiveMaximum: 1e12,
    examples: ['1.0867'],
  }),
  updated_at: updatedAt,
});
export type CurrencyRateRecord = Static<typeof CurrencyRateRecord>;
