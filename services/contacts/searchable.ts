/** What of a contact can be found, as words and normal forms. Both search stores index exactly this (contract 3.8, 3.9). */

import {
  normalizeCountry,
  normalizeDomain,
  normalizePostalCode,
  normalizeProfileUrl,
  profileSlug,
} from '../search/normalize.js';
import { memoize } from '../shared/cache.js';
import { type ContactField, type ContactSearchField, SEARCH_FIELDS, type ValueField } from './fields.js';
import type { Contact } from './schema.js';

export type SearchableContact = Pick<Contact, ContactField>;

/** The stored values of a field. */
export function searchableTexts(contact: SearchableContact, field: ContactSearchField): readonly string[] {
  const texts: string[] = [];
  for (const name of SEARCH_FIELDS[field].of) {
    const value = contact[name];
    if (typeof value === 'string') texts.push(value);
    else if (value !== null) texts.push(...value);
  }
  return texts;
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
