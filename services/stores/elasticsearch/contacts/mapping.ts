/** A contact as a document of its index. */
import {
  CONTACT_SEARCH_FIELDS,
  CONTACT_SEARCH_GROUPS,
  type ContactSearchField,
  searchableTexts,
  searchableTextWords,
  searchableValues,
} from '../../../contacts/searchable.js';
import type { ContactBody, StoredContact } from '../../../contacts/stored-contact.js';
import { memoize } from '../../../shared/cache.js';
import { valueToken, wordToken, wordTokens } from '../text/tokens.js';

/** What a document keeps; what is searched is derived from it and not kept. */
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
  /** How a request made the contact, for one that is told again. */
  creation?: Creation;
  /** The last requests with an idempotency key that took the contact out of an audience. */
  removals?: string[];
}

/** The outcome of the creation, and the reservation of credits it used up. */
export interface Creation {
  /** The attempt that made it. */
  attempt: string;
  reservation: string | null;
  creditsConsumed: number | null;
  creditBalance: number | null;
  duplicates: string[];
}

/** Holds the id of a contact whose creation was given up, so that a late attempt cannot bring it about. */
export interface Tombstone {
  abandoned_at: number;
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

const plainLetters = /^[a-z]+$/;
const lettersOnly = /^\p{L}+$/u;
/** Shorter words are never a typo away from a word that may carry one. */
const MIN_LETTERS = 3;

/** The words of letters among those given, once each. */
export function letterTokens(words: Iterable<string>): string[] {
  const letters = new Set<string>();
  for (const word of words) {
    if (word.length < MIN_LETTERS) continue;
    if (plainLetters.test(word) || lettersOnly.test(word)) letters.add(wordToken(word));
  }
  return [...letters];
}

/** The document to index. */
export function contactDocument(source: ContactSource | Tombstone): object {
  if (isTombstone(source)) return source;
  const { organization_id, contact_id, created_at, updated_at, record_order, audience_ids, contact } = source;
  const { creation, removals } = source;
  // Field by field, which is a good deal faster than to spread.
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

/** Where the words of fields that no filter asks for go. */
const GROUP_FIELDS = ['names', 'emails', 'company', 'all'] as const;
const FILTERED = [
  'first_name',
  'last_name',
  'job_title',
  'functional_area',
  'company_name',
  'city',
  'state_region',
] as const;
type WordField = (typeof GROUP_FIELDS)[number] | (typeof FILTERED)[number];

/** Where a value is seldom that of another contact too. */
const OWN: ReadonlySet<ContactSearchField> = new Set(['emails', 'phones', 'network_a_slug']);

const FIELDS = CONTACT_SEARCH_FIELDS.map((name) => {
  const tokens = (text: string): Tokens => {
    const words = searchableTextWords(name, text);
    return { words: wordTokens(words), letters: letterTokens(words) };
  };
  return {
    name,
    into: FILTERED.find((filtered) => filtered === name) ?? GROUP_FIELDS[CONTACT_SEARCH_GROUPS[name]],
    tokens: OWN.has(name) ? tokens : memoize(tokens),
  };
});

/** Values of a field, of which there is seldom more than one. */
type Held = Record<WordField, string | string[] | undefined>;

/** What is not known is undefined, and not sent. All fields are there from the start: objects of one form are made fastest. */
function searchFields(body: ContactBody): object {
  const values = searchableValues(body);
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
    letters: '',
    country_value: tokenOf(values.country),
    postal_code_value: tokenOf(values.postal_code),
    company_domain_value: tokenOf(values.company_domain),
    network_a_url_value: tokenOf(values.network_a_url),
    network_a_slug_value: tokenOf(values.network_a_slug),
  };
  const held: Held = fields;
  const spoken: string[] = [];
  for (const { name, into, tokens } of FIELDS) {
    for (const text of searchableTexts(body, name)) {
      const { words, letters } = tokens(text);
      if (words === '') continue;
      const before = held[into];
      if (before === undefined) held[into] = words;
      else if (typeof before === 'string') held[into] = [before, words];
      else before.push(words);
      for (const word of letters) if (!spoken.includes(word)) spoken.push(word);
    }
  }
  fields.letters = spoken.join(' ');
  return fields;
}

const tokenOf = (value: string | null) => (value ? valueToken(value) : undefined);
