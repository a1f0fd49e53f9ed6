/** Schemas of the operations about companies by domain. */
import type { Static } from 'typebox';
import {
  campaignIds,
  GRANULARITIES,
  orderFields,
  rangeFields,
  search,
  strings,
} from '../advertising/requests.js';
import { pageOf, provisional, seen, warnings } from '../advertising/responses.js';
import { Contact } from '../contacts/schema.js';
import {
  arrayOf,
  date,
  dateTime,
  integer,
  looseObject,
  nullable,
  strictObject,
  stringEnum,
  Type,
  text,
} from '../shared/schema.js';
import { Visit } from '../visits/schema.js';

const { granularity, ...range } = rangeFields;

export const COMPANY_SORTS = [
  'engagements',
  'impressions',
  'clicks',
  'visits',
  'last_visit',
  'name',
] as const;
export type CompanySort = (typeof COMPANY_SORTS)[number];

export const SearchCompaniesRequest = strictObject({
  ...range,
  search: search('the name or domain of the company'),
  domains: strings(
    'Only these domains, also without activity; case and a leading www. do not matter.',
    'A domain.',
    253,
    { examples: [['example.com']] },
  ),
  campaign_ids: campaignIds,
  ...orderFields(COMPANY_SORTS, 'engagements'),
});
export type SearchCompaniesRequest = Static<typeof SearchCompaniesRequest>;

export const count = (description: string) => integer(description, { minimum: 0 });
const counts = {
  impressions: count('How often ads were shown to the company.'),
  clicks: count('Clicks on ads by the company.'),
  engagements: count('Engagements of the company with ads.'),
};

/** What identifies a company that is all records with one domain. */
export const identity = {
  domain: Type.String({ description: 'Domain of the company, lower-case, without www.' }),
  name: nullable(
    Type.String({
      description: 'Name of the record with most impressions, among the records with a name.',
    }),
  ),
  company_ids: arrayOf(
    'Identifiers of all company records with this domain, ascending.',
    Type.String({ description: 'Identifier of a company record.' }),
  ),
};

export const CompanyActivity = looseObject(
  {
    ...identity,
    network_a: looseObject(
      {
        ...counts,
        campaigns_reached: count('Campaigns with impressions.'),
        ...seen,
      },
      { description: 'Sums over the company records with this domain.' },
    ),
    visits: looseObject(
      {
        count: count('Visits of the range.'),
        last_at: nullable(dateTime('When the newest of these visits began, UTC.')),
      },
      { description: 'Visits of the company to the site.' },
    ),
    contacts: looseObject(
      { count: count('Contacts that `contacts/search` finds now by `company_domains` with this domain.') },
      { description: 'People known at the company.' },
    ),
  },
  { $id: 'CompanyActivity', description: 'What is known of a company by its domain.' },
);
export type CompanyActivity = Static<typeof CompanyActivity>;

/** Columns of CSV, which has no nested fields. */
export const CSV_COLUMNS = [
  ...['domain', 'name', 'company_ids', 'impressions', 'clicks', 'engagements', 'campaigns_reached'],
  ...['first_seen', 'last_seen', 'visit_count', 'last_visit', 'contact_count'],
];

export const SearchCompaniesResponse = looseObject({
  ...pageOf('companies', CompanyActivity),
  without_domain: looseObject(
    {
      companies: count('Company records with activity that have no domain.'),
      visits: count('Visits without a company.'),
    },
    {
      description: 'What no item counts, because its domain is unknown, whatever `search` and `domains` are.',
    },
  ),
  provisional,
  warnings,
});
export type SearchCompaniesResponse = Static<typeof SearchCompaniesResponse>;

export const GetCompanyRequest = strictObject({
  ...range,
  granularity,
  domain: text('Domain of the company; scheme, a leading www., port, path and case are ignored.', {
    minLength: 1,
    maxLength: 253,
  }),
});
export type GetCompanyRequest = Static<typeof GetCompanyRequest>;

const CompanyActivityPoint = looseObject(
  {
    period: Type.String({ description: 'YYYY-MM-DD, or YYYY-MM.', examples: ['2026-10-01'] }),
    start_date: date('First day of the period inside the range.'),
    end_date: date('Last day of the period inside the range.'),
    provisional,
    ...counts,
    visits: count('Visits of the company to the site.'),
  },
  { $id: 'CompanyActivityPoint', description: 'The figures of one period.' },
);

export const GetCompanyResponse = looseObject({
  company: CompanyActivity,
  start_date: date('First day, UTC.'),
  end_date: date('Last day, UTC.'),
  granularity: stringEnum('Length of the periods.', GRANULARITIES),
  timeseries: arrayOf('The periods of the range, ascending.', CompanyActivityPoint),
  visits: arrayOf('The 20 newest visits of the range.', Visit),
  contacts: arrayOf('The 20 newest of the contacts that `contacts.count` counts.', Contact),
  provisional,
  warnings,
});
export type GetCompanyResponse = Static<typeof GetCompanyResponse>;
