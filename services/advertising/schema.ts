import Type, { type Static, type TSchema } from 'typebox';
import {
  closed,
  date,
  dateTime,
  id,
  integer,
  list,
  nullable,
  oneOf,
  open,
  optional,
  organizationId,
  text,
} from '../shared/schema.js';
import {
  COMPANY_METRIC_NAMES,
  METRIC_NAMES,
  type Metric,
  RATES,
  SUMMED_METRICS,
  SUMMED_NAMES,
  type SummedMetric,
} from './metrics.js';

/** Up to 26 digits before and 12 after the point, no sign and no exponent. */
export const MONEY_PATTERN = '^[0-9]{1,26}(\\.[0-9]{1,12})?$';

const moneyText = (description: string) =>
  Type.String({ description, pattern: MONEY_PATTERN, examples: ['1234.56'] });

/** Money in a record: a decimal string, or a number, kept exactly. */
const moneyInput = (description: string) =>
  Type.Unsafe<string | number>({
    description,
    type: ['string', 'number'],
    pattern: MONEY_PATTERN,
    minimum: 0,
    exclusiveMaximum: 1e26,
    examples: ['1234.56'],
  });

const campaignAttributes = {
  network_a_campaign_id: text('Identifier of the campaign on network_a.'),
  name: text('Name.'),
  account_id: text('Advertising account.'),
  campaign_group_id: text('Group the campaign is in.'),
  campaign_group_name: text('Name of that group.'),
  status: text('ACTIVE, PAUSED, ARCHIVED, COMPLETED, CANCELED, DRAFT, PENDING_DELETION or REMOVED.', {
    maxLength: 64,
  }),
  objective_type: text('What the campaign is optimized for.', { maxLength: 64 }),
  format: text('Format of the ads.'),
  cost_type: text('What the network charges for: CPC, CPM, …'),
  currency: text('ISO 4217 code of all money of the campaign.', { maxLength: 16 }),
};
const budgets = {
  daily_budget: 'Budget a day.',
  total_budget: 'Budget over the whole campaign.',
};
const campaignDates = {
  start_date: date('First day of the campaign.'),
  end_date: date('Last day of the campaign.'),
};

const creativeAttributes = {
  network_a_creative_id: text('Identifier of the creative on network_a.'),
  name: text('Name.'),
  status: text('Status of the creative.', { maxLength: 64 }),
  review_status: text('Where the review by the network stands.', { maxLength: 64 }),
  format: text('Format of the ad.'),
  headline: text('Headline.'),
  landing_page_url: text('Address a click leads to.', { maxLength: 8192 }),
  image_url: text('Address of the image.', { maxLength: 8192 }),
};

const companyAttributes = {
  network_a_company_id: text('Identifier of the company on network_a.'),
  name: text('Name.'),
  domain: text('Domain, lower-case, without www.'),
  network_a_url: text('Address of the company page on network_a.'),
  industry: text('Industry.'),
  employee_range: text('Number of employees, as a range.'),
  country: text('Country.'),
  logo_url: text('Address of the logo.', { maxLength: 8192 }),
};

type Optionals<T extends Record<string, TSchema>> = { [K in keyof T]: ReturnType<typeof optional<T[K]>> };
type Nullables<T extends Record<string, TSchema>> = { [K in keyof T]: ReturnType<typeof nullable<T[K]>> };

const mapValues = (record: Record<string, TSchema>, change: (schema: TSchema) => TSchema) =>
  Object.fromEntries(Object.entries(record).map(([name, schema]) => [name, change(schema)]));
const optionals = <T extends Record<string, TSchema>>(record: T) =>
  mapValues(record, optional) as Optionals<T>;
const nullables = <T extends Record<string, TSchema>>(record: T) =>
  mapValues(record, nullable) as Nullables<T>;

const updatedAt = optional(dateTime('Version of the record: an older one changes nothing.'));

/** A record of the `network-a-campaigns` stream: each is whole and replaces the one before. */
export const CampaignRecord = closed({
  organization_id: organizationId,
  id: id('Identifier of the campaign.'),
  ...optionals(campaignAttributes),
  daily_budget: optional(moneyInput(budgets.daily_budget)),
  total_budget: optional(moneyInput(budgets.total_budget)),
  ...optionals(campaignDates),
  updated_at: updatedAt,
});
export type CampaignRecord = Static<typeof CampaignRecord>;

/** A record of the `network-a-creatives` stream. */
export const CreativeRecord = closed({
  organization_id: organizationId,
  id: id('Identifier of the creative.'),
  campaign_id: id('Campaign the creative belongs to.'),
  ...optionals(creativeAttributes),
  updated_at: updatedAt,
});
export type CreativeRecord = Static<typeof CreativeRecord>;

/** A record of the `network-a-companies` stream. */
export const CompanyRecord = closed({
  organization_id: organizationId,
  id: id('Identifier of the company.'),
  ...optionals(companyAttributes),
  updated_at: updatedAt,
});
export type CompanyRecord = Static<typeof CompanyRecord>;

const countInput = (description: string) => integer(description, { minimum: 0 });

/** A record of the `network-a-deliveries` stream (contract 5.1). Absent figures are 0. */
export const DeliveryRecord = closed({
  organization_id: organizationId,
  date: date('Day of the figures, UTC.', { formatMinimum: '1970-01-01', formatMaximum: '2149-06-06' }),
  campaign_id: id('Campaign that delivered.'),
  creative_id: optional(id('Creative the figures are broken down by.')),
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
