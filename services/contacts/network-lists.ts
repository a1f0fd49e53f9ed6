/** The lists that network_a takes as an upload, for its matched audiences. */
import { createHash } from 'node:crypto';
import type { CsvProfile } from '../http/endpoint.js';
import { countryCode } from '../search/countries.js';
import { domainOf, normalizeEmail } from '../search/normalize.js';
import { foldValue } from '../shared/text.js';
import type { Contact } from './schema.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** One row for each email, because the network finds a member by any of them. A contact without emails is found by its name. */
function peopleOf(contact: Contact): object[] {
  const person = {
    firstname: contact.first_name,
    lastname: contact.last_name,
    jobtitle: contact.job_title,
    employeecompany: contact.company_name,
    country: countryCode(contact.country ?? '')?.toUpperCase(),
  };
  const emails = new Set([...contact.work_emails, ...contact.personal_emails].map(normalizeEmail));
  if (emails.size > 0) return [...emails].map((email) => ({ email: sha256(email), ...person }));
  return contact.first_name && contact.last_name ? [person] : [];
}

/** One row for each company: companies are equal if they have the same domain or, without a domain, the same name. */
function distinctCompanies(): (contact: Contact) => object[] {
  const seen = new Set<string>();
  return ({ company_domain, company_name, company_industry }) => {
    const domain = company_domain && domainOf(company_domain);
    const key = domain || foldValue(company_name ?? '');
    if (key === '') return [];
    // Names can be long, and an organization can have many. 16 bytes of a hash tell them apart.
    const hash = createHash('sha256').update(key).digest('base64').slice(0, 22);
    if (seen.has(hash)) return [];
    seen.add(hash);
    const company = { companyname: company_name, industry: company_industry };
    return [{ ...company, companywebsite: domain, companyemaildomain: domain }];
  };
}

const profile = (columns: string, begin: () => (contact: Contact) => object[]): CsvProfile => ({
  columns: columns.split(','),
  begin: begin as CsvProfile['begin'],
});

/** The columns are those of the templates of LinkedIn Campaign Manager. Columns that contacts have no value for stay empty. */
export const networkLists: Readonly<Record<string, CsvProfile>> = {
  'network-a-contacts': profile(
    'email,firstname,lastname,jobtitle,employeecompany,country,googleaid',
    () => peopleOf,
  ),
  'network-a-companies': profile(
    'companyname,companywebsite,companyemaildomain,linkedincompanypageurl,stocksymbol,industry,city,state,companycountry,zipcode',
    distinctCompanies,
  ),
};
