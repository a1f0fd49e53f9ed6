/** What of a contact can be found, as words and normal forms. Both search stores index exactly this (contract 3.8, 3.9). */

import {
  normalizeCountry,
  normalizeDomain,
  normalizePostalCode,
  normalizeProfileUrl,
  profileSlug,
} from '../search/normalize.js';
import { emailWords, phoneWords, textWords } from '../search/words.js';
import { memoize } from '../shared/cache.js';
import type { ValueField } from './fields.js';
import type { Contact } from './schema.js';

/** Fields that `query` searches, each with its group of the order in contract 3.9: names, emails, company and job, rest. */
export const CONTACT_SEARCH_GROUPS = {
  first_name: 0,
  last_name: 0,
  emails: 1,
  job_title: 2,
  company_name: 2,
  company_domain: 2,
  functional_area: 3,
  city: 3,
  state_region: 3,
  country: 3,
  network_a_slug: 3,
  phones: 3,
} as const;
export type ContactSearchField = keyof typeof CONTACT_SEARCH_GROUPS;
/** Fields whose values few contacts share: caching what is derived from them does not pay. */
export const UNIQUE_SEARCH_FIELDS: ReadonlySet<ContactSearchField> = new Set([
  'emails',
  'phones',
  'network_a_slug',
]);
export const CONTACT_SEARCH_FIELDS = Object.keys(CONTACT_SEARCH_GROUPS) as ContactSearchField[];

export type SearchableContact = Pick<
  Contact,
  | 'first_name'
  | 'last_name'
  | 'work_emails'
  | 'personal_emails'
  | 'phones'
  | 'network_a_url'
  | 'job_title'
  | 'functional_area'
  | 'company_name'
  | 'company_domain'
  | 'city'
  | 'state_region'
  | 'country'
  | 'postal_code'
>;

/** The values of a field as they are kept. */
export function searchableTexts(contact: SearchableContact, field: ContactSearchField): readonly string[] {
  switch (field) {
    case 'emails':
      return [...contact.work_emails, ...contact.personal_emails];
    case 'phones':
      return contact.phones;
    default: {
      const text = contact[field === 'network_a_slug' ? 'network_a_url' : field];
      return text === null ? [] : [text];
    }
  }
}

/** The words one value of a field can be found by, in order: a phrase lies within one value. Compounds follow the plain words. */
export function searchableTextWords(field: ContactSearchField, text: string): string[] {
  switch (field) {
    case 'emails':
      return emailWords(text);
    case 'phones':
      return phoneWords(text);
    case 'company_domain':
      return textWords(normalizeDomain(text));
    case 'network_a_slug':
      return textWords(profileSlug(normalizeProfileUrl(text)));
    default:
      return textWords(text);
  }
}

const countryOf = memoize(normalizeCountry);

/** Values compared as a whole, in normal form. */
export function searchableValues(contact: SearchableContact): Record<ValueField, string | null> {
  const profile = contact.network_a_url === null ? null : normalizeProfileUrl(contact.network_a_url);
  return {
    country: contact.country === null ? null : countryOf(contact.country),
    postal_code: contact.postal_code === null ? null : normalizePostalCode(contact.postal_code),
    company_domain: contact.company_domain === null ? null : normalizeDomain(contact.company_domain),
    network_a_url: profile,
    network_a_slug: profile === null ? null : profileSlug(profile),
  };
}
