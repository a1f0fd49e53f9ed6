/** A contact as a document of its index. */

import type { FacetField } from '../../../contacts/fields.js';
import {
  type ContactSearchField,
  SEARCH_FIELDS,
  searchableName,
  searchableTexts,
  searchableValues,
  WORD_FIELDS,
  type WordField,
} from '../../../contacts/searchable.js';
import type { ContactBody, StoredContact } from '../../../contacts/stored-contact.js';
import { isTypoCandidate } from '../../../search/typos.js';
import { memoize } from '../../../shared/cache.js';
import type { Deletion } from '../../../shared/record-order.js';
import { valueToken, wordToken, wordTokens } from '../text/tokens.js';

/** The stored fields; the searched ones are derived from them and not stored. */
export interface ContactSource {
  organization_id: string;
  contact_id: string;
  /** Milliseconds since the epoch, as is the other. */
  created_at: number;
  updated_at: number;
  /** Of the last record that changed it; null while there was none. */
  record_order: string | null;
  audience_ids: string[];
  contact: ContactBody;
  /** Outcome of the create request, replayed on retries. */
  creation?: Creation;
  /** Ids of the last uses of idempotency keys that removed the contact from an audience. */
  removals?: string[];
}

/** The outcome of the create request, and the reservation of credits it used. */
export interface Creation {
  /** Id of the attempt that wrote it. */
  attempt: string;
  reservation: string | null;
  creditsConsumed: number | null;
  creditBalance: number | null;
  duplicates: string[];
}

/**
 * Occupies the id of an abandoned creation, so that a late write conflicts, or that of a deleted contact, so that a record older than
 * `record_order` does not bring it back.
 */
export interface Tombstone {
  /** Milliseconds since the epoch. */
  abandoned_at: number;
  record_order?: string;
}

export function isTombstone(source: ContactSource | Tombstone): source is Tombstone {
  return 'abandoned_at' in source;
}

export function toStoredContact(source: ContactSource): StoredContact {
  return {
    createdMs: source.created_at,
    updatedMs: source.updated_at,
    recordOrder: source.record_order,
    audienceIds: source.audience_ids,
    body: source.contact,
  };
}

/** What records are applied to. */
export function toVersioned(source: ContactSource | Tombstone): StoredContact | Deletion | undefined {
  if (!isTombstone(source)) return toStoredContact(source);
  return source.record_order === undefined ? undefined : { recordOrder: source.record_order };
}

export function contactSource(
  stored: StoredContact,
  rest: Pick<ContactSource, 'creation' | 'removals'>,
): ContactSource {
  return {
    organization_id: stored.body.organization_id,
    contact_id: stored.body.contact_id,
    created_at: stored.createdMs,
    updated_at: stored.updatedMs,
    record_order: stored.recordOrder,
    audience_ids: stored.audienceIds,
    contact: stored.body,
    creation: rest.creation,
    removals: rest.removals,
  };
}

/** Tokens of the words that a query with a typo can mean, once each. */
export function letterTokens(words: Iterable<string>): string[] {
  const letters = new Set<string>();
  for (const word of words) if (isTypoCandidate(word)) letters.add(wordToken(word));
  return [...letters];
}

/** The document to index. */
export function contactDocument(source: ContactSource | Tombstone): object {
  if (isTombstone(source)) return source;
  const { organization_id, contact_id, created_at, updated_at, record_order, audience_ids, contact } = source;
  const { creation, removals } = source;
  // Field by field: faster than a spread.
  const kept: ContactSource = {
    organization_id,
    contact_id,
    created_at,
    updated_at,
    record_order,
    audience_ids,
    contact,
    creation,
    removals,
  };
  return Object.assign(kept, { search: searchFields(contact) });
}

/** A value of a field, as words to index and as those of them that may have typos. */
interface Tokens {
  words: string;
  letters: readonly string[];
}

/** Fields for the words that no filter searches. */
const GROUP_FIELDS = ['names', 'emails', 'company', 'all'] as const;
type TextField = (typeof GROUP_FIELDS)[number] | WordField;

/** Fields for the words of each group that may have typos. */
const LETTER_FIELDS = ['letters_of_names', 'letters_of_emails', 'letters_of_company', 'letters'] as const;

const FIELDS = (Object.keys(SEARCH_FIELDS) as ContactSearchField[]).map((name) => {
  const field = SEARCH_FIELDS[name];
  const tokens = (text: string): Tokens => {
    const words = field.wordsOf(text);
    return { words: wordTokens(words), letters: letterTokens(words) };
  };
  return {
    name,
    into: WORD_FIELDS.find((filtered) => filtered === name) ?? GROUP_FIELDS[field.group],
    lettersInto: LETTER_FIELDS[field.group],
    tokens: 'isUnique' in field ? tokens : memoize(tokens),
  };
});

/** A field rarely has more than one value. */
type WordValues = Record<TextField | (typeof LETTER_FIELDS)[number], string | string[] | undefined>;

/** Undefined fields are not sent. They are all declared first, because V8 creates objects of one shape fastest. */
function searchFields(body: ContactBody): object {
  const values = searchableValues(body);
  const { whole, parts, initials } = searchableName(body);
  const fields = {
    first_name: undefined,
    last_name: undefined,
    job_title: undefined,
    functional_area: undefined,
    company_name: undefined,
    city: undefined,
    state_region: undefined,
    names: undefined,
    emails: undefined,
    company: undefined,
    all: undefined,
    letters_of_names: undefined,
    letters_of_emails: undefined,
    letters_of_company: undefined,
    letters: undefined,
    initials: wordTokens(initials),
    whole_name: whole.map(valueToken),
    name_parts: parts.map(valueToken),
    country_value: tokenOf(values.country),
    postal_code_value: tokenOf(values.postal_code),
    company_domain_value: tokenOf(values.company_domain),
    network_a_url_value: tokenOf(values.network_a_url),
    network_a_slug_value: tokenOf(values.network_a_slug),
    facets: {
      country: body.country,
      job_title: body.job_title,
      company_name: body.company_name,
      company_domain: body.company_domain,
      functional_area: body.functional_area,
      city: body.city,
      state_region: body.state_region,
    } satisfies Record<FacetField, string | null>,
  };
  const byField: WordValues = fields;
  const letterWords: Record<(typeof LETTER_FIELDS)[number], Set<string>> = {
    letters_of_names: new Set(),
    letters_of_emails: new Set(),
    letters_of_company: new Set(),
    letters: new Set(),
  };
  for (const { name, into, lettersInto, tokens } of FIELDS) {
    for (const text of searchableTexts(body, name)) {
      const { words, letters } = tokens(text);
      if (words === '') continue;
      const before = byField[into];
      if (before === undefined) byField[into] = words;
      else if (typeof before === 'string') byField[into] = [before, words];
      else before.push(words);
      for (const word of letters) letterWords[lettersInto].add(word);
    }
  }
  for (const name of LETTER_FIELDS)
    if (letterWords[name].size > 0) byField[name] = [...letterWords[name]].join(' ');
  return fields;
}

const tokenOf = (value: string | null) => (value ? valueToken(value) : undefined);
