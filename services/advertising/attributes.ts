/**
 * The attributes of campaigns, creatives and companies. Record fields, stored columns, select lists and response fields are made from these
 * tables.
 */
import type { TString, TUnsafe } from 'typebox';
import { normalizeDomain } from '../search/normalize.js';
import { date, nullable, optional, Type, text } from '../shared/schema.js';
import { moneyAmount, moneyInput, requireMoneyText } from './money.js';
import { caseFold, normalizeObjective, normalizeStatus } from './normalization.js';

export interface Attribute<Value extends string | number = string | number> {
  record: ReturnType<typeof optional<TUnsafe<Value>>>;
  response: TUnsafe<string | null>;
  /** The text stored for a value that passed validation. */
  normalize?(value: Value): string;
  /** The form of the stored text that filters compare and lists sort by. The column `<name>_key` stores this form. */
  key?(stored: string): string;
}
export type Attributes = Record<string, Attribute>;

const attribute = (
  schema: TString & { description?: string },
  forms: Pick<Attribute<string>, 'normalize' | 'key'> = {},
): Attribute<string> => ({
  record: optional(schema),
  response: nullable(Type.String({ description: schema.description })),
  ...forms,
});

const money = (description: string): Attribute => ({
  record: optional(moneyInput(description)),
  response: nullable(moneyAmount(description)),
  normalize: requireMoneyText,
});

export const campaignAttributes = {
  network_a_campaign_id: attribute(text('Identifier of the campaign on network_a.')),
  name: attribute(text('Name.'), { key: caseFold }),
  account_id: attribute(text('Advertising account.')),
  campaign_group_id: attribute(text('Group the campaign is in.')),
  campaign_group_name: attribute(text('Name of that group.'), { key: caseFold }),
  status: attribute(
    text('ACTIVE, PAUSED, ARCHIVED, COMPLETED, CANCELED, DRAFT, PENDING_DELETION or REMOVED.', {
      maxLength: 64,
    }),
    { key: normalizeStatus },
  ),
  objective_type: attribute(text('What the campaign is optimized for.', { maxLength: 64 }), {
    key: normalizeObjective,
  }),
  format: attribute(text('Format of the ads.')),
  cost_type: attribute(text('What the network charges for: CPC, CPM, …')),
  currency: attribute(text('ISO 4217 code of all money of the campaign.', { maxLength: 16 })),
  daily_budget: money('Budget a day.'),
  total_budget: money('Budget over the whole campaign.'),
  start_date: attribute(date('First day of the campaign.')),
  end_date: attribute(date('Last day of the campaign.')),
};

export const creativeAttributes = {
  network_a_creative_id: attribute(text('Identifier of the creative on network_a.')),
  name: attribute(text('Name.'), { key: caseFold }),
  status: attribute(text('Status of the creative.', { maxLength: 64 }), { key: normalizeStatus }),
  review_status: attribute(text('Where the review by the network stands.', { maxLength: 64 })),
  format: attribute(text('Format of the ad.')),
  headline: attribute(text('Headline.'), { key: caseFold }),
  landing_page_url: attribute(text('Address a click leads to.', { maxLength: 8192 })),
  image_url: attribute(text('Address of the image.', { maxLength: 8192 })),
};

export const companyAttributes = {
  network_a_company_id: attribute(text('Identifier of the company on network_a.')),
  name: attribute(text('Name.'), { key: caseFold }),
  domain: attribute(text('Domain, lower-case, without www.'), { normalize: normalizeDomain, key: caseFold }),
  network_a_url: attribute(text('Address of the company page on network_a.')),
  industry: attribute(text('Industry.')),
  employee_range: attribute(text('Number of employees, as a range.')),
  country: attribute(text('Country.')),
  logo_url: attribute(text('Address of the logo.', { maxLength: 8192 })),
};

/** The schemas of a list of attributes, for records or for responses. */
export const schemasOf = <List extends Attributes, Side extends 'record' | 'response'>(
  attributes: List,
  side: Side,
) =>
  Object.fromEntries(Object.entries(attributes).map(([name, each]) => [name, each[side]])) as {
    [Name in keyof List]: List[Name][Side];
  };
