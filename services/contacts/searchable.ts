/** Searchable parts of a contact, as words and normal forms. Both records stores index exactly these parts (contract 3.8, 3.9). */

import { countryWords, normalizeCountry } from '../search/countries.js';
import type { EquivalentFields, EquivalentKind } from '../search/equivalents.js';
import type { SearchedValue } from '../search/explain.js';
import { companyWords, type NameKeys, nameKeys, namesTogether, nameWords } from '../search/names.js';
import {
  normalizeDomain,
  normalizePostalCode,
  normalizeProfileUrl,
  profileSlug,
} from '../search/normalize.js';
import { phoneWords } from '../search/phones.js';
import { titleClasses } from '../search/titles.js';
import { emailWords, isRepeat, markRepeats, postalCodeWords, slugWords, textWords } from '../search/words.js';
import { foldValue, words } from '../shared/text.js';
import { type ContactField, PRESENCE_FIELDS, type PresenceField } from './field-types.js';
import type { DerivedField, ExplainedField } from './fields.js';
import type { Contact } from './schema.js';

interface SearchField {
  /** Contact fields that this search field contains. */
  of: readonly ContactField[];
  /** Group of the order in contract 3.9: 0 names, 1 emails, 2 company and job, 3 other fields. */
  group: 0 | 1 | 2 | 3;
  /** Returns the words by which a value can be found, in order. */
  wordsOf(value: string): string[];
  /** Set if few contacts share a value. The derived forms of such values are not cached. */
  isUnique?: true;
}

const wordsOfDomain = (domain: string) => textWords(normalizeDomain(domain));

/** Fields that `query` searches. */
export const SEARCH_FIELDS = {
  first_name: { of: ['first_name'], group: 0, wordsOf: nameWords },
  last_name: { of: ['last_name'], group: 0, wordsOf: nameWords },
  // All names together, see `searchableTexts`.
  full_name: { of: [], group: 0, wordsOf: (together) => [together], isUnique: true },
  emails: { of: ['work_emails', 'personal_emails'], group: 1, wordsOf: emailWords, isUnique: true },
  job_title: { of: ['job_title'], group: 2, wordsOf: textWords },
  company_name: { of: ['company_name'], group: 2, wordsOf: companyWords },
  company_domain: { of: ['company_domain'], group: 2, wordsOf: wordsOfDomain },
  functional_area: { of: ['functional_area'], group: 3, wordsOf: textWords },
  city: { of: ['city'], group: 3, wordsOf: textWords },
  state_region: { of: ['state_region'], group: 3, wordsOf: textWords },
  country: { of: ['country'], group: 3, wordsOf: countryWords },
  postal_code: { of: ['postal_code'], group: 3, wordsOf: postalCodeWords, isUnique: true },
  network_a_slug: { of: ['network_a_url'], group: 3, wordsOf: slugWords, isUnique: true },
  phones: { of: ['phones'], group: 3, wordsOf: phoneWords, isUnique: true },
} as const satisfies Record<string, SearchField>;
export type ContactSearchField = keyof typeof SEARCH_FIELDS;

/** Words of a field that filters search and queries do not. */
export const industryWords = ({ company_industry }: SearchableContact): string[] =>
  company_industry === null ? [] : textWords(company_industry);

/** Fields that a filter compares word by word. */
export const WORD_FIELDS = [
  'first_name',
  'last_name',
  'job_title',
  'functional_area',
  'company_name',
  'company_industry',
  'city',
  'state_region',
] as const;
export type WordField = (typeof WORD_FIELDS)[number];

/** Fields of a contact that are compared as a whole, in the normal form of `search/normalize.ts`. */
export type ValueField =
  | 'country'
  | 'postal_code'
  | 'company_domain'
  | 'network_a_url'
  | 'network_a_slug'
  | 'data_import_id'
  | DerivedField;

/** The fields of `PRESENCE_FIELDS` that a contact has. */
export const presentFields = (contact: SearchableContact): PresenceField[] =>
  PRESENCE_FIELDS.filter((field) => textsOf(contact[field]).length > 0);

/** Fields in which the equivalents of a kind match a query. Equivalents of a filter match in the field of the filter. */
export const EQUIVALENT_FIELDS: EquivalentFields = mapKinds({
  title: ['job_title', 'functional_area'],
  title_abroad: ['job_title'],
  company: ['company_name'],
  given_name: ['first_name'],
  name: ['first_name', 'last_name'],
  city: ['city'],
  region: ['state_region'],
});

function mapKinds(
  fields: Record<EquivalentKind, readonly Exclude<WordField, 'company_industry'>[]>,
): EquivalentFields {
  const entries = Object.entries(fields).map(([kind, names]) => [
    kind,
    names.map((field) => ({ field, group: SEARCH_FIELDS[field].group })),
  ]);
  return Object.fromEntries(entries) as EquivalentFields;
}

/** Kinds of equivalents, by the field of a filter. */
export const FILTER_EQUIVALENTS: Partial<Record<WordField, readonly EquivalentKind[]>> = {
  job_title: ['title', 'title_abroad'],
  company_name: ['company'],
  city: ['city'],
  state_region: ['region'],
};

/** Number of characters by which text is sorted. */
const MAX_SORTED = 128;

/** Sort key of a text, compared by code points; null if the sort key would be empty. */
function sortText(text: string | null): string | null {
  if (text === null) return null;
  const folded = foldValue(text);
  // The cut must not split a surrogate pair.
  return (
    (folded.length > MAX_SORTED ? folded.slice(0, MAX_SORTED).replace(/[\ud800-\udbff]$/, '') : folded) ||
    null
  );
}

/** Sort keys of a contact other than its times. */
export const sortValues = ({ last_name, company_name }: SearchableContact) => ({
  last_name: sortText(last_name),
  company_name: sortText(company_name),
});

export type SearchableContact = Pick<Contact, ContactField | 'data_import_id'>;

/** The stored values of a field. */
export function searchableTexts(contact: SearchableContact, field: ContactSearchField): readonly string[] {
  if (field === 'full_name') {
    return [...namesTogether(contact.first_name, contact.last_name), ...repeatedWords(contact)];
  }
  const [first, second] = SEARCH_FIELDS[field].of;
  const texts = textsOf(contact[first]);
  return second === undefined ? texts : [...texts, ...textsOf(contact[second])];
}

/** Words that occur in several fields together, marked by `markRepeats`, such as the city and the state of New York. */
function repeatedWords(contact: SearchableContact): string[] {
  const all = REPEATED_FIELDS.flatMap((field) => words(contact[field] ?? ''));
  return new Set(all).size === all.length ? [] : [...new Set(markRepeats(all).filter(isRepeat))];
}

const REPEATED_FIELDS = ['first_name', 'last_name', 'company_name', 'city', 'state_region'] as const;

const textsOf = (value: string | readonly string[] | null): readonly string[] =>
  typeof value === 'string' ? [value] : (value ?? []);

/** Every value that a query searches, with its words. */
export function searchedValues(contact: SearchableContact): SearchedValue<ExplainedField>[] {
  return (Object.keys(SEARCH_FIELDS) as ContactSearchField[]).flatMap((name) => {
    const { of, group, wordsOf } = SEARCH_FIELDS[name];
    const withWords = (field: ExplainedField) => (text: string) => ({ field, group, words: wordsOf(text) });
    if (name === 'full_name') return searchableTexts(contact, name).map(withWords(name));
    return of.flatMap((field) => textsOf(contact[field]).map(withWords(field)));
  });
}

/** Keys that recognize a query as the whole name, or as the whole first or last name, and the first letters of the words of the name. */
export function searchableName({ first_name, last_name }: SearchableContact): NameKeys {
  return nameKeys([first_name, last_name]);
}

/** Values that are compared as a whole, in normal form. */
export function searchableValues(contact: SearchableContact): Record<ValueField, string | null> {
  const profile = contact.network_a_url === null ? null : normalizeProfileUrl(contact.network_a_url);
  return {
    country: contact.country === null ? null : normalizeCountry(contact.country),
    postal_code: contact.postal_code === null ? null : normalizePostalCode(contact.postal_code),
    company_domain: contact.company_domain === null ? null : normalizeDomain(contact.company_domain),
    network_a_url: profile,
    network_a_slug: profile === null ? null : profileSlug(profile),
    data_import_id: contact.data_import_id,
    ...titleClasses(contact.job_title),
  };
}
