/** Attributes of the advertising entities, the same in records and in answers. */
import { date, text } from '../shared/schema.js';

export const campaignAttributes = {
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
export const budgets = {
  daily_budget: 'Budget a day.',
  total_budget: 'Budget over the whole campaign.',
};
export const campaignDates = {
  start_date: date('First day of the campaign.'),
  end_date: date('Last day of the campaign.'),
};

export const creativeAttributes = {
  network_a_creative_id: text('Identifier of the creative on network_a.'),
  name: text('Name.'),
  status: text('Status of the creative.', { maxLength: 64 }),
  review_status: text('Where the review by the network stands.', { maxLength: 64 }),
  format: text('Format of the ad.'),
  headline: text('Headline.'),
  landing_page_url: text('Address a click leads to.', { maxLength: 8192 }),
  image_url: text('Address of the image.', { maxLength: 8192 }),
};

export const companyAttributes = {
  network_a_company_id: text('Identifier of the company on network_a.'),
  name: text('Name.'),
  domain: text('Domain, lower-case, without www.'),
  network_a_url: text('Address of the company page on network_a.'),
  industry: text('Industry.'),
  employee_range: text('Number of employees, as a range.'),
  country: text('Country.'),
  logo_url: text('Address of the logo.', { maxLength: 8192 }),
};
