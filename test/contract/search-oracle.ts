/** Contract 3.8 to 3.10 in plain TypeScript over a list: what every records store must return. */

import type { ContactFilter, ContactSearch } from '../../services/contacts/contact-store.js';
import type { FacetField } from '../../services/contacts/fields.js';
import type { Contact } from '../../services/contacts/schema.js';
import {
  type ContactSearchField,
  SEARCH_FIELDS,
  searchableName,
  searchableTexts,
  searchableValues,
} from '../../services/contacts/searchable.js';
import type { Facets } from '../../services/search/facets.js';
import { normalizeEmail } from '../../services/search/normalize.js';
import type { QueryTerm, TextQuery } from '../../services/search/query.js';
import { distanceWithin, words } from '../../services/shared/text.js';

const FIELDS = Object.keys(SEARCH_FIELDS) as ContactSearchField[];

interface Ranked {
  contact: Contact;
  rank: number[];
}

/**
 * All contacts that match, in order; with `match: best` and none that has every word, those with the words that weigh most: each the square
 * of log2 of how many contacts, at least 1 000, there are for one that matches it. Fewer than half of the words need one that one in a
 * hundred has.
 */
export function searchByHand(contacts: readonly Contact[], search: ContactSearch): Ranked[] {
  const every = searchOfTerms(contacts, search);
  const { query, match } = search;
  if (every.length > 0 || match !== 'best' || !query) return every;
  const among = (required: readonly QueryTerm[]) =>
    searchOfTerms(contacts, { ...search, query: { ...query, required: [...required] } });
  const within = Math.max(1000, searchOfTerms(contacts, { ...search, query: undefined }).length);
  const bits = new Map(
    query.required.map((term) => {
      const { length } = among([term]);
      return [term, length === 0 ? null : Math.max(1, Math.round(Math.log2(within / length) ** 2))];
    }),
  );
  const choices = choicesOf(query.required)
    .filter(
      (terms) =>
        terms.length > 0 &&
        terms.length < query.required.length &&
        terms.every((term) => bits.get(term) !== null) &&
        (terms.length >= query.required.length / 2 || terms.some((term) => (bits.get(term) ?? 0) >= 44)),
    )
    .map((terms) => ({ terms, weight: sum(terms.map((term) => bits.get(term) as number)) }))
    .sort((left, right) => right.weight - left.weight || right.terms.length - left.terms.length);
  let best: (typeof choices)[number] | undefined;
  const found: Ranked[] = [];
  for (const choice of choices) {
    if (best && (best.weight !== choice.weight || best.terms.length !== choice.terms.length)) break;
    const some = among(choice.terms);
    if (some.length > 0) best = choice;
    found.push(...some);
  }
  return found.sort(compareRanked);
}

/** Every combination of terms, with all phrases. */
function choicesOf(required: readonly QueryTerm[]): QueryTerm[][] {
  const [first, ...rest] = required;
  if (first === undefined) return [[]];
  const others = choicesOf(rest);
  const withFirst = others.map((choice) => [first, ...choice]);
  return first.kind === 'phrase' ? withFirst : [...withFirst, ...others];
}

function searchOfTerms(contacts: readonly Contact[], search: ContactSearch): Ranked[] {
  /** Contacts with the same texts have the same rank. */
  const ranks = new Map<string, number[] | null>();
  const knownRankOf = (contact: Contact, query: TextQuery) => {
    const texts = JSON.stringify(FIELDS.map((field) => searchableTexts(contact, field)));
    const rank = ranks.get(texts);
    if (rank !== undefined) return rank;
    ranks.set(texts, rankOf(contact, query));
    return knownRankOf(contact, query);
  };
  return contacts
    .filter(
      (contact) =>
        contact.organization_id === search.organizationId &&
        (search.audienceId === undefined || contact.audience_ids.includes(search.audienceId)) &&
        (search.updatedAfter === undefined || Date.parse(contact.updated_at) > search.updatedAfter) &&
        search.filters.every((filter) => meets(contact, filter)),
    )
    .flatMap((contact) => {
      const rank = search.query ? knownRankOf(contact, search.query) : [];
      return rank === null ? [] : [{ contact, rank }];
    })
    .sort(search.sort ? bySort(search.sort) : compareRanked);
}

/** Orders by a value, then by id in the same direction; contacts that lack the value come last. Accents of Latin letters do not count; marks of other scripts do. */
function bySort({ by, direction }: NonNullable<ContactSearch['sort']>) {
  const textOf = ({ contact }: Ranked) =>
    contact[by]
      ?.normalize('NFKD')
      .replace(/(\p{sc=Latin})\p{M}+/gu, '$1')
      .toLowerCase()
      .trim();
  return (left: Ranked, right: Ranked): number => {
    const [one, other] = [textOf(left), textOf(right)];
    if (one !== other && !(one && other)) return one ? -1 : 1;
    const isBefore =
      one && other && one !== other ? one < other : left.contact.contact_id < right.contact.contact_id;
    return isBefore === (direction === 'asc') ? -1 : 1;
  };
}

const compareRanked = (left: Ranked, right: Ranked): number =>
  compareRanks(left.rank, right.rank) ||
  Date.parse(right.contact.created_at) - Date.parse(left.contact.created_at) ||
  (left.contact.contact_id < right.contact.contact_id ? 1 : -1);

const compareRanks = (left: readonly number[], right: readonly number[]): number =>
  left.map((value, index) => value - (right[index] ?? 0)).find((difference) => difference !== 0) ?? 0;

/** The facets of all contacts that match. */
export function facetsByHand(contacts: readonly Contact[], search: ContactSearch): Facets<FacetField> {
  const matches = searchByHand(contacts, search).map(({ contact }) => contact);
  return Object.fromEntries(
    (search.facets ?? []).map((field) => {
      const counts = new Map<string, number>();
      for (const { [field]: value } of matches) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
      const sorted = [...counts].sort(
        ([left, more], [right, less]) => less - more || Buffer.compare(Buffer.from(left), Buffer.from(right)),
      );
      return [field, sorted.slice(0, 20).map(([value, count]) => ({ value, count }))];
    }),
  );
}

function meets(contact: Contact, filter: ContactFilter): boolean {
  if (filter.kind === 'value') {
    const value = searchableValues(contact)[filter.field];
    return value !== null && filter.values.includes(value);
  }
  if (filter.kind === 'email') {
    return [...contact.work_emails, ...contact.personal_emails].some(
      (each) => normalizeEmail(each) === filter.email,
    );
  }
  if (filter.kind === 'has' || filter.kind === 'lacks') {
    const value = contact[filter.field];
    return (value !== null && value.length > 0) === (filter.kind === 'has');
  }
  if (filter.kind === 'terms') return filter.terms.some((term) => matchesOf(contact, term).length > 0);
  const { field } = filter;
  const held =
    field === 'company_industry' ? words(contact.company_industry ?? '') : wordsOf(contact, field).flat();
  return filter.words.every(
    ({ spellings, whole, equivalents }) =>
      held.some((other) => whole.includes(other) || spellings.some((word) => other.startsWith(word))) ||
      equivalents.some((words) => words.every((word) => held.includes(word))),
  );
}

/** Class, typos, missing names, group: the smaller, the better; null if the contact does not match. */
function rankOf(contact: Contact, query: TextQuery): number[] | null {
  if (
    query.excluded.some((term) =>
      matchesOf(contact, { ...term, typos: 0 }).some(({ how }) => how === 'exact'),
    )
  )
    return null;
  if (query.required.length === 0) return [];
  const matches = query.required.map((term) => matchesOf(contact, term));
  if (matches.some((found) => found.length === 0)) return null;
  const typos = matches.map((found) => Math.min(...found.map((match) => match.typos)));
  const areAll = (...kinds: Match['how'][]) =>
    matches.every((found) => found.some(({ how }) => kinds.includes(how)));
  const tier = areAll('exact') ? 2 : areAll('exact', 'equivalent') ? 3 : 4;
  const counted =
    sum(typos) > 0 ? matches : matches.map((found) => found.filter((match) => match.typos === 0));
  const inNames = counted.filter((found) => found.some(({ group }) => group === 0)).length;
  const group = Math.min(...counted.flat().map((match) => match.group));
  return [classOf(contact, query, tier), sum(typos), query.required.length - inNames, group];
}

const sum = (values: readonly number[]) => values.reduce((left, right) => left + right, 0);

function classOf(contact: Contact, query: TextQuery, tier: number): number {
  if (tier > 2) return tier;
  const given = [
    ...new Set(
      query.required.flatMap((term) => (term.kind === 'word' ? [term.word.replace(/^\*+/, '')] : term.words)),
    ),
  ];
  const key = given.sort().join(' ');
  const { whole, parts } = searchableName(contact);
  return whole.includes(key) ? 0 : parts.includes(key) ? 1 : 2;
}

interface Match {
  how: 'exact' | 'equivalent' | 'beginning' | 'typo';
  typos: number;
  group: number;
}

/** Every way in which a term matches. */
function matchesOf(contact: Contact, term: QueryTerm & { typos?: number }): Match[] {
  const matches: Match[] = [];
  if (term.kind === 'phrase' && term.words.length > 1) {
    if (isWholeName(contact, term.words)) matches.push({ how: 'exact', typos: 0, group: 0 });
    const together = term.words.join('');
    for (const field of isWithoutSpaces.test(together) ? FIELDS : []) {
      if (wordsOf(contact, field).some((value) => value.includes(together)))
        matches.push({ how: 'exact', typos: 0, group: SEARCH_FIELDS[field].group });
    }
  }
  for (const field of FIELDS) {
    const { group } = SEARCH_FIELDS[field];
    for (const value of wordsOf(contact, field)) {
      if (term.kind === 'phrase') {
        const isFound = value.some((_, start) =>
          term.words.every((word, index) => value[start + index] === word),
        );
        if (isFound) matches.push({ how: 'exact', typos: 0, group });
        continue;
      }
      const joined = term.joined ?? [];
      if ([term.word, ...joined].some((word) => value.includes(word)))
        matches.push({ how: 'exact', typos: 0, group });
      const begins = [...(term.prefix || (term.initial && group === 0) ? [term.word] : []), ...joined];
      const isNational = value.some((word) => term.weaker?.includes(word));
      if (isNational || value.some((word) => begins.some((beginning) => word.startsWith(beginning)))) {
        matches.push({ how: 'beginning', typos: 0, group });
      }
      for (const equivalent of term.equivalents ?? []) {
        if (equivalent.field === field && equivalent.words.every((word) => value.includes(word))) {
          matches.push({ how: 'equivalent', typos: 0, group });
        }
      }
      for (const word of value) {
        const typos = typosBetween(word, term.word, term.typos);
        if (typos !== null) matches.push({ how: 'typo', typos, group });
      }
    }
  }
  return matches;
}

const isWithoutSpaces = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{M}ー々]+$/u;

/** First and last name, in either order, however their parts are joined. */
function isWholeName({ first_name, last_name }: Contact, given: readonly string[]): boolean {
  if (!first_name || !last_name) return false;
  const [first, last] = [words(first_name).join(''), words(last_name).join('')];
  return first !== '' && last !== '' && [first + last, last + first].includes(given.join(''));
}

const wordsOf = (contact: Contact, field: ContactSearchField) =>
  searchableTexts(contact, field).map(SEARCH_FIELDS[field].wordsOf);

function typosBetween(held: string, asked: string, typos: number): number | null {
  if (typos === 0 || !/^[\p{L}\p{M}]+$/u.test(held) || held.codePointAt(0) !== asked.codePointAt(0))
    return null;
  return distanceWithin(held, asked, typos);
}
