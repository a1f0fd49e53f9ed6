/** Request schemas of the advertising operations. */
import type { Static } from 'typebox';
import {
  arrayOf,
  date,
  integer,
  nullable,
  optional,
  organizationId,
  strictObject,
  stringEnum,
  Type,
  text,
} from '../shared/schema.js';
import { COMPANY_METRIC_NAMES, METRIC_NAMES, type Metric } from './metrics.js';
import { currencyCode } from './money.js';

export const GRANULARITIES = ['daily', 'monthly'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

export const strings = (description: string, item: string, maxLength = 64, options = {}) =>
  optional(
    arrayOf(description, Type.String({ description: item, minLength: 1, maxLength }), {
      maxItems: 100,
      ...options,
    }),
  );
/** Maximum length of a record id (contract 3.1). */
const MAX_ID_LENGTH = 128;
const ids = (description: string, item: string) => strings(description, item, MAX_ID_LENGTH);
export const COMPARISONS = ['previous_period', 'previous_month', 'previous_year'] as const;
export type CompareTo = (typeof COMPARISONS)[number];
const pageNumber = (description: string) =>
  optional(integer(description, { minimum: 1, maximum: 1_000_000, default: 1 }));
const pageSize = (description: string) =>
  optional(integer(description, { minimum: 1, maximum: 200, default: 50 }));
const metricsFilter = <T extends Metric>(names: readonly T[]) =>
  optional(
    arrayOf(
      'Only these metrics and rates appear in items, points and totals; all of them when absent.',
      stringEnum('Name of a metric or rate.', names),
      { minItems: 1, maxItems: 64 },
    ),
  );
export const search = (where: string, options = {}) =>
  optional(
    text(`Part of ${where}; case does not matter, no character is special.`, { maxLength: 200, ...options }),
  );
const statuses = (whose: string) =>
  strings(`Only with one of these statuses of the ${whose}; case does not matter.`, 'A status.', 64, {
    examples: [['ACTIVE', 'PAUSED']],
  });
const objectiveTypes = strings(
  'Only of campaigns with one of these objectives; case and plural do not matter.',
  'An objective.',
  64,
  { examples: [['LEAD_GENERATION']] },
);
export const campaignIds = ids('Only of these campaigns.', 'Identifier of a campaign.');

const currency = optional(
  currencyCode(
    'Currency, ISO 4217, that the money of each day is converted to by the rate of that day in the stream currency-rates. Without it money is in the currency of each campaign.',
  ),
);

export const rangeFields = {
  organization_id: Type.Optional(nullable(organizationId)),
  start_date: date('First day, UTC.', { examples: ['2026-10-01'] }),
  end_date: date(
    'Last day, UTC, not before start_date. A range has at most 3660 days, first and last included.',
    { examples: ['2026-10-31'] },
  ),
  granularity: optional(
    stringEnum('Length of the periods of the time series.', GRANULARITIES, { default: 'daily' }),
  ),
};

export const CAMPAIGN_SORTS = [...METRIC_NAMES, 'name', 'status', 'objective_type', 'start_date'] as const;
export type CampaignSort = (typeof CAMPAIGN_SORTS)[number];
export const CREATIVE_SORTS = [...METRIC_NAMES, 'name', 'status', 'campaign_name', 'review_status'] as const;
export type CreativeSort = (typeof CREATIVE_SORTS)[number];
export const COMPANY_SORTS = [
  'name',
  'impressions',
  'clicks',
  'engagements',
  'engagement_rate',
  'campaigns_reached',
  'campaigns_engaged',
] as const;
export type CompanySort = (typeof COMPANY_SORTS)[number];

/** The order of a list, and its page. */
export const orderFields = <T extends string>(
  sorts: readonly T[],
  standard: T,
  order = 'What the items are ordered by; then by domain, ascending.',
) => ({
  sort_by: optional(stringEnum(order, sorts, { default: standard })),
  sort_direction: optional(
    stringEnum('Direction of the order; unknown values come last in both.', ['asc', 'desc'], {
      default: 'desc',
    }),
  ),
  page: pageNumber('Page, from 1.'),
  page_size: pageSize('Items per page.'),
});

/** The last fields of a list request: what to show of the matches, and in which order. */
const listFields = <M extends Metric, T extends string>(
  metrics: readonly M[],
  sorts: readonly T[],
  standard: T,
) => ({
  metrics: metricsFilter(metrics),
  ...orderFields(sorts, standard, 'What the items are ordered by; then by id, ascending.'),
  page_size: pageSize(
    'Items per page. The items of a page times the periods of the range are at most 100 000, else the problem is too_many_points.',
  ),
  compare_to: optional(
    stringEnum(
      'Adds the figures of an earlier range: as many days just before start_date, or the same days a month or a year before.',
      COMPARISONS,
    ),
  ),
});

export const CampaignsRequest = strictObject({
  ...rangeFields,
  currency,
  campaign_ids: campaignIds,
  statuses: statuses('campaign'),
  objective_types: objectiveTypes,
  search: search('the name of the campaign or of its group'),
  ...listFields(METRIC_NAMES, CAMPAIGN_SORTS, 'ad_spend'),
});
export type CampaignsRequest = Static<typeof CampaignsRequest>;

export const CreativesRequest = strictObject({
  ...rangeFields,
  currency,
  campaign_ids: campaignIds,
  creative_ids: ids('Only these creatives.', 'Identifier of a creative.'),
  statuses: statuses('creative'),
  objective_types: objectiveTypes,
  search: search('the name or headline of the creative, or of the name of its campaign'),
  ...listFields(METRIC_NAMES, CREATIVE_SORTS, 'ad_spend'),
});
export type CreativesRequest = Static<typeof CreativesRequest>;

export const CompaniesRequest = strictObject({
  ...rangeFields,
  campaign_ids: campaignIds,
  company_ids: ids('Only these companies, also without activity.', 'Identifier of a company.'),
  network_a_company_ids: ids(
    'Only companies with these identifiers of network_a, also without activity.',
    'Identifier of a company on network_a.',
  ),
  domains: strings(
    'Only companies with exactly these domains, also without activity; case and a leading www. do not matter.',
    'A domain.',
    253,
    { examples: [['example.com']] },
  ),
  search: search('the name or domain of the company', { default: '' }),
  ...listFields(COMPANY_METRIC_NAMES, COMPANY_SORTS, 'engagements'),
});
export type CompaniesRequest = Static<typeof CompaniesRequest>;

export const CompanyRequest = strictObject({
  ...rangeFields,
  currency,
  campaign_ids: campaignIds,
  company_id: optional(
    text('Identifier of the company, ours or that of network_a. Either this or domain.', {
      minLength: 1,
      maxLength: MAX_ID_LENGTH,
    }),
  ),
  domain: optional(
    text('Exact domain of the company; case and a leading www. do not matter. Either this or company_id.', {
      minLength: 1,
      maxLength: 253,
    }),
  ),
  metrics: metricsFilter(COMPANY_METRIC_NAMES),
  campaign_page: pageNumber('Page of campaigns, from 1.'),
  campaign_page_size: pageSize('Campaigns a page.'),
});
export type CompanyRequest = Static<typeof CompanyRequest>;
