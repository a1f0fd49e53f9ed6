/** Turns requests into contact searches. The functions have no side effects and are the same for every store. */
import { invalid, noWords, pointerOf } from '../http/problems.js';
import { normalizeCountry, withCountries } from '../search/countries.js';
import {
  type EquivalentKind,
  filterAlternatives,
  isShortForm,
  withEquivalents,
} from '../search/equivalents.js';
import { givenWord } from '../search/explain.js';
import { joinedNeighbours, withJoinedNames, withRepeats } from '../search/names.js';
import {
  normalizeDomain,
  normalizeEmail,
  normalizePostalCode,
  normalizeProfileUrl,
} from '../search/normalize.js';
import { unmatchedOf } from '../search/partial.js';
import { type Page, type QueryTerm, readingsOf, type SortKey, type TextQuery } from '../search/query.js';
import { parseQuery } from '../search/query-parser.js';
import { sortOf } from '../search/sort.js';
import { isRepeat, markRepeats } from '../search/words.js';
import { codePoints, fold, hasLetterOrDigit, spelledOut, words } from '../shared/text.js';
import { parseTimestamp } from '../shared/time.js';
import { splitCommonFilters, uniteAlternatives } from './alternatives.js';
import {
  type ContactCriteria,
  type ContactFilter,
  type ContactPage,
  type ContactSearch,
  type FilterWord,
  selectsAll,
} from './contact-store.js';
import type {
  BulkFilter,
  FilterObject,
  SearchAudienceContactsRequest,
  SearchContactsRequest,
} from './schema.js';
import {
  EQUIVALENT_FIELDS,
  FILTER_EQUIVALENTS,
  type ValueField,
  WORD_FIELDS,
  type WordField,
} from './searchable.js';

/** Maximum words of a filter, because each word is a condition on every row (contract 3.8). */
const MAX_FILTER_WORDS = 32;
const MAX_FILTER_EQUIVALENTS = 128;
/** Fields whose words are also found joined with their neighbours. */
const JOINED_FIELDS: ReadonlySet<WordField> = new Set(['first_name', 'last_name', 'company_name']);

type GivenFilters = Omit<FilterObject, 'audience_id' | 'updated_after' | 'created_after' | 'created_before'>;

/** The filters, facets and query of a request. Throws 422 for a filter without words. */
export function toContactSearch(
  organizationId: string,
  body: SearchContactsRequest | SearchAudienceContactsRequest | BulkFilter,
  query?: TextQuery,
): Omit<ContactSearch, 'limit' | 'after' | 'skipsTotal'> {
  const { any_of, none_of } = body as BulkFilter;
  const alternatives = any_of?.map((filter, place) => toCriteria(filter, `any_of[${place}].`)) ?? [];
  // Every row is checked for each alternative, so there are as few and as short ones as possible.
  const { common, rest: anyOf } = splitCommonFilters(uniteAlternatives(alternatives));
  const criteria = toCriteria(body);
  return {
    organizationId,
    ...criteria,
    filters: [...criteria.filters, ...common],
    anyOf: anyOf.length === 0 || anyOf.some(selectsAll) ? undefined : anyOf,
    noneOf: none_of ? uniteAlternatives(none_of.map(toExcluded)) : undefined,
    query: query && contactTerms(query),
    sort: 'sort_by' in body || 'sort_direction' in body ? sortOf(body) : undefined,
    match: ('match' in body && body.match) || undefined,
    facets: 'facets' in body && body.facets ? [...new Set(body.facets)] : undefined,
    explain: ('explain' in body && body.explain) || undefined,
  };
}

function toCriteria(given: FilterObject, path = ''): ContactCriteria {
  const timeOf = (text: string | null | undefined) => (text ? parseTimestamp(text) : undefined);
  return {
    audienceId: given.audience_id || undefined,
    filters: toFilters(given, path),
    updatedAfter: timeOf(given.updated_after),
    createdFrom: timeOf(given.created_after),
    createdBefore: timeOf(given.created_before),
  };
}

function toExcluded(filter: FilterObject, place: number): ContactCriteria {
  const criteria = toCriteria(filter, `none_of[${place}].`);
  if (selectsAll(criteria)) {
    const detail = `none_of[${place}] must name at least one field, because an empty filter matches every contact.`;
    throw invalid({ pointer: `/none_of/${place}`, code: 'empty_filter', detail });
  }
  return criteria;
}

/** Ids of the audiences that the filters of a request name. */
export function namedAudiences({ audience_id, any_of, none_of }: BulkFilter): string[] {
  const ids = [audience_id, ...[...(any_of ?? []), ...(none_of ?? [])].map((filter) => filter.audience_id)];
  return [...new Set(ids.filter((each) => each != null))];
}

/** The query with all meanings that its words may have in a contact. */
export const contactTerms = (query: TextQuery): TextQuery =>
  withRepeats(withCountries(withJoinedNames(withEquivalents(query, EQUIVALENT_FIELDS))));

/**
 * Returns the page of the first reading of the query that matches a contact, together with that reading. The next page uses the same
 * reading.
 */
export async function searchContacts<Found extends Page<unknown>>(
  read: (search: ContactSearch) => Promise<Found>,
  search: ContactSearch,
): Promise<{ page: Found; query?: TextQuery; fallback?: Pick<SortKey, 'fallback'> }> {
  const { query, after, match } = search;
  if (query?.fallbackQuery === undefined) return { page: await read(search), query };
  // `contactTerms` has already been applied to the first reading.
  const readings = readingsOf(query).map((each, place) => (place === 0 ? each : contactTerms(each)));
  for (let place = after?.fallback ?? 0; ; place++) {
    const reading = readings[place] as TextQuery;
    const isLast = after !== undefined || place === readings.length - 1;
    const page = await read({
      ...search,
      query: reading,
      match: isLast ? matchOf(reading, match) : undefined,
    });
    if (page.total === 0 && !isLast) continue;
    const fallback = place === 0 ? undefined : { fallback: place };
    return {
      page: { ...page, next: page.next && { ...page.next, ...fallback } },
      query: reading,
      fallback,
    };
  }
}

const matchOf = ({ isDomain }: TextQuery, match: ContactSearch['match']) =>
  isDomain && match === 'best' ? 'all' : match;

/** The page of a search, and the words of the query that were not found. The next page is partial in the same way. */
export function withPartial(page: ContactPage, query: TextQuery | undefined) {
  const { partial, next, ...rest } = page;
  if (!partial || !query) return page;
  const unmatched_words = unmatchedOf(partial).map((place) => givenWord(query.required[place] as QueryTerm));
  if (partial.matched === 0) return { ...rest, next, unmatched_words };
  return {
    ...rest,
    next: next && { ...next, partial },
    partial: { words: query.required.length, matched: partial.matched, unmatched_words },
  };
}

/** Throws 422 for a filter without words, because ignoring the filter would return everything. */
export function toFilters(given: GivenFilters, path = ''): ContactFilter[] {
  const filters: ContactFilter[] = [];
  for (const field of WORD_FIELDS) {
    const text = given[field];
    if (text) filters.push({ kind: 'words', field, words: filterWords(field, text, path + field) });
  }
  const add = (name: string, field: ValueField, value: string) => {
    if (!hasLetterOrDigit(value)) throw noWords(path + name);
    filters.push({ kind: 'value', field, values: [value] });
  };
  if (given.country) add('country', 'country', normalizeCountry(given.country));
  if (given.postal_code) add('postal_code', 'postal_code', normalizePostalCode(given.postal_code));
  if (given.company_domain) add('company_domain', 'company_domain', normalizeDomain(given.company_domain));
  if (given.company_domains) {
    const domains = given.company_domains.map(normalizeDomain);
    const place = domains.findIndex((domain) => !hasLetterOrDigit(domain));
    if (place !== -1) throw noWords(`${path}company_domains[${place}]`);
    filters.push(knownAt(domains));
  }
  if (given.network_a_url) {
    const url = normalizeProfileUrl(given.network_a_url);
    add('network_a_url', url.includes('/') ? 'network_a_url' : 'network_a_slug', url);
  }
  if (given.seniority) filters.push({ kind: 'value', field: 'seniority', values: [given.seniority] });
  if (given.department) filters.push({ kind: 'value', field: 'department', values: [given.department] });
  if (given.data_import_id)
    filters.push({ kind: 'value', field: 'data_import_id', values: [given.data_import_id] });
  for (const kind of ['has', 'lacks'] as const)
    for (const field of new Set(given[kind])) filters.push({ kind, field });
  if (given.email) {
    const email = normalizeEmail(given.email);
    if (!hasLetterOrDigit(email)) throw noWords(`${path}email`);
    // Stores index the parts of an address as words too. Only whole addresses contain an @, and none ends with one, so text that ends with
    // an @ matches no address.
    filters.push({ kind: 'email', email: email.includes('@') ? email : `${email}@` });
  }
  return filters;
}

/** Finds the people known at companies: the contacts that a search for one of the domains as a phrase finds (decision 0028). */
export function knownAt(domains: readonly string[]): ContactFilter {
  const terms = [...new Set(domains)].flatMap((domain) => {
    const query = parseQuery(`"${domain.replaceAll('"', ' ')}"`);
    // A domain may be longer than a query.
    return 'code' in query
      ? [{ kind: 'phrase' as const, words: [fold(domain)] }]
      : contactTerms(query).required;
  });
  return { kind: 'terms', terms };
}

/** Maximum characters of a filter word that matches only whole words. */
const MAX_WHOLE_CHARACTERS = 2;
const withSpaces = /^[^\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]+$/u;

/** Whether a word of a filter matches only whole words: it is short, a short form in the table of the field, or repeated. */
const isWhole = (word: string, kinds: readonly EquivalentKind[]): boolean =>
  isRepeat(word) ||
  (codePoints(word) <= MAX_WHOLE_CHARACTERS && withSpaces.test(word)) ||
  isShortForm(word, kinds);

/**
 * The distinct words of a filter, without words that begin another word: a field that matches the longer word matches these too. Words of a
 * name also match joined with their neighbours, and words of some fields match as their equivalents.
 */
function filterWords(field: WordField, text: string, name: string): FilterWord[] {
  const given = words(text);
  const kinds = FILTER_EQUIVALENTS[field] ?? [];
  const alternatives = kinds.length > 0 && given.length > 0 ? filterAlternatives(given, kinds) : [];
  const joined = JOINED_FIELDS.has(field) ? joinedNeighbours(given) : [];
  const spelled = spelledOut(text);
  const spellings = new Map<string, Set<string>>();
  const equivalents = new Map<string, string[][]>();
  let room = MAX_FILTER_EQUIVALENTS;
  const marked = markRepeats(given);
  // If marks would add too many words, the unmarked words are used, because each word is a condition on every row.
  const asked = new Set(marked).size > MAX_FILTER_WORDS ? given : marked;
  for (const [index, word] of asked.entries()) {
    const known = spellings.get(word) ?? new Set<string>();
    if (!isWhole(word, kinds)) known.add(word);
    const other = spelled.get(word);
    for (const each of [...(joined[index] ?? []), ...(other ? [other] : [])]) known.add(each);
    spellings.set(word, known);
    const others = (alternatives[index] ?? []).slice(0, room).map((alternative) => alternative.words);
    room -= others.length;
    equivalents.set(word, [...(equivalents.get(word) ?? []), ...others]);
  }
  const different = [...spellings.keys()].sort();
  if (different.length === 0) throw noWords(name);
  if (different.length > MAX_FILTER_WORDS) {
    throw invalid({
      pointer: pointerOf(name),
      code: 'too_many_words',
      detail: `${name} has ${different.length} different words; at most ${MAX_FILTER_WORDS} are allowed.`,
    });
  }
  // After sorting, a word comes right before the words that it begins.
  return different
    .filter((word, index) => isWhole(word, kinds) || !different[index + 1]?.startsWith(word))
    .map((word) => ({
      spellings: [...(spellings.get(word) as Set<string>)],
      whole: isWhole(word, kinds) ? [word] : [],
      equivalents: equivalents.get(word) ?? [],
    }));
}
