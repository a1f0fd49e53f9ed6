/** What of a contact can be found, as words and normal forms. Both search stores index exactly this (contract 3.8, 3.9). */

import {
  normalizeCountry,
  normalizeDomain,
  normalizePostalCode,
  normalizeProfileUrl,
  profileSlug,
} from '../search/normalize.js';
import type { ValueField } from '../search/query.js';
import { memoize } from '../shared/memoize.js';
import { compounds, fold, phoneDigits, words } from '../shared/text.js';
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

/** Words, then compounds. */
export function textWords(text: string): string[] {
  const value = words(text);
  value.push(...compounds(text));
  return value;
}

/** Nearly every address: in it `compounds` finds the address itself and nothing else. */
const plainEmail = /^[a-z0-9][a-z0-9._+-]*@[a-z0-9.-]*[a-z0-9]$/;

/** The address also counts as one word, and so does its domain. */
function emailWords(email: string): string[] {
  const whole = emailWord(email);
  const value = words(email);
  if (plainEmail.test(whole) && whole.length === email.length) {
    value.push(whole, whole.slice(whole.indexOf('@') + 1));
    return value;
  }
  const after = new Set([...compounds(email), whole, whole.slice(whole.lastIndexOf('@') + 1)]);
  value.push(...after);
  return value;
}

/** The one word that stands for an email address. */
export function emailWord(email: string): string {
  return fold(email).replace(/\s+/g, '');
}

/** A phone number is one word of digits. North American numbers are also found without their country code, 1. */
function phoneWords(phone: string): string[] {
  const digits = phoneDigits(phone);
  if (digits === '') return [];
  const national = nationalDigits(digits);
  return national === digits ? [digits] : [digits, national];
}

/** The ten digits of a North American number that was given with its country code, else the digits themselves. */
export function nationalDigits(digits: string): string {
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
}
