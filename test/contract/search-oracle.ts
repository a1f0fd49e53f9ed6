/** Contract 3.8 to 3.10 in plain TypeScript over a list: what every search store must answer. */

import type { ContactFilter, ContactSearch } from '../../services/contacts/contact-store.js';
import type { FacetField } from '../../services/contacts/fields.js';
import type { Contact } from '../../services/contacts/schema.js';
import {
  type ContactSearchField,
  SEARCH_FIELDS,
  searchableTexts,
  searchableValues,
} from '../../services/contacts/searchable.js';
import type { Facets } from '../../services/search/facets.js';
import { normalizeEmail } from '../../services/search/normalize.js';
import type { QueryTerm, TextQuery } from '../../services/search/query.js';
import { codePoints, distanceWithin } from '../../services/shared/text.js';

const FIELDS = Object.keys(SEARCH_FIELDS) as ContactSearchField[];
const TYPO = 2;

export interface Ranked {
  contact: Contact;
  rank: number;
}

/** All contacts that match, in order. */
export function searchByHand(contacts: readonly Contact[], search: ContactSearch): Ranked[] {
  return contacts
    .filter(
      (contact) =>
        contact.organization_id === search.organizationId &&
        (search.audienceId === undefined || contact.audience_ids.includes(search.audienceId)) &&
        (search.updatedAfter === undefined || Date.parse(contact.updated_at) > search.updatedAfter) &&
        search.filters.every((filter) => meets(contact, filter)),
    )
    .flatMap((contact) => {
      const rank = search.query ? rankOf(contact, search.query) : 0;
      return rank === null ? [] : [{ contact, rank }];
    })
    .sort(
      (left, right) =>
        left.rank - right.rank ||
        Date.parse(right.contact.created_at) - Date.parse(left.contact.created_at) ||
        (left.contact.contact_id < right.contact.contact_id ? 1 : -1),
    );
}

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
  if (filter.kind === 'value') return searchableValues(contact)[filter.field] === filter.value;
  if (filter.kind === 'email') {
    return [...contact.work_emails, ...contact.personal_emails].some(
      (each) => normalizeEmail(each) === filter.email,
    );
  }
  const held = wordsOf(contact, filter.field).flat();
  return filter.words.every((word) => held.some((other) => other.startsWith(word)));
}

function rankOf(contact: Contact, query: TextQuery): number | null {
  if (query.excluded.some((term) => bestMatch(contact, term, false).tier === 0)) return null;
  if (query.required.length === 0) return 0;
  const matches = query.required.map((term) => bestMatch(contact, term, true));
  const tier = Math.max(...matches.map((match) => match.tier));
  return tier > TYPO ? null : tier * 4 + Math.min(...matches.map((match) => match.group));
}

/** Tier 0 exact, 1 beginning, 2 typo, 3 none; the best group with an exact match or a beginning, else 3. */
function bestMatch(contact: Contact, term: QueryTerm, isFree: boolean): { tier: number; group: number } {
  let tier = 3;
  let group = 3;
  for (const field of FIELDS) {
    for (const value of wordsOf(contact, field)) {
      const found = tierIn(value, term, isFree);
      tier = Math.min(tier, found);
      if (found < TYPO) group = Math.min(group, SEARCH_FIELDS[field].group);
    }
  }
  return { tier, group };
}

const wordsOf = (contact: Contact, field: ContactSearchField) =>
  searchableTexts(contact, field).map(SEARCH_FIELDS[field].wordsOf);

function tierIn(value: string[], term: QueryTerm, isFree: boolean): number {
  if (term.kind === 'phrase') {
    const found = value.some((_, start) => term.words.every((word, index) => value[start + index] === word));
    return found ? 0 : 3;
  }
  if (value.includes(term.word)) return 0;
  if (!isFree) return 3;
  if (term.prefix && codePoints(term.word) >= 2 && value.some((word) => word.startsWith(term.word))) return 1;
  return value.some((word) => isTypo(word, term.word, term.typos)) ? TYPO : 3;
}

function isTypo(held: string, asked: string, typos: number): boolean {
  return (
    typos > 0 &&
    /^[\p{L}\p{M}]+$/u.test(held) &&
    held.codePointAt(0) === asked.codePointAt(0) &&
    distanceWithin(held, asked, typos) !== null
  );
}
