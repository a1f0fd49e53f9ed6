/** A contact as a document of its index. */

import { contactDomain } from '../../../contacts/contact-domain.js';
import { contactJson, parseContact } from '../../../contacts/contact-json.js';
import type { FacetField } from '../../../contacts/fields.js';
import type { Contact } from '../../../contacts/schema.js';
import {
  type ContactSearchField,
  industryWords,
  presentFields,
  SEARCH_FIELDS,
  searchableName,
  searchableTexts,
  searchableValues,
  sortValues,
  type ValueField,
  WORD_FIELDS,
  type WordField,
} from '../../../contacts/searchable.js';
import { type ContactBody, importOf, type StoredContact } from '../../../contacts/stored-contact.js';
import { memoize } from '../../../shared/cache.js';
import { fromJson, type Json, toJson } from '../../../shared/json.js';
import type { Deletion } from '../../../shared/record-order.js';
import { systemClock } from '../../../shared/time.js';
import { valueToken, wordTokens } from '../text/tokens.js';

/** A contact, with fields that are only in its document. `audienceIds` are tokens. */
export interface IndexedContact extends StoredContact {
  /** Outcome of the create request, which retries return again. */
  creation?: Creation;
  /** Ids of the last uses of idempotency keys that removed the contact from an audience. */
  removals?: string[];
  /** Ids of the last updates of the contact. */
  updates?: string[];
}

/**
 * What a membership stores in place of the audience id: the id, a slash, and the number of deleted audiences with this id. So members of a
 * deleted audience are not members of the next audience with the same id. Ids have no slash.
 */
export type AudienceToken = string;

export const audienceToken = (id: string, generation = 0): AudienceToken =>
  generation === 0 ? id : `${id}/${generation}`;

/** The ids of audiences, ascending, without the tokens of `former` audiences. */
export function publicIds(
  tokens: readonly AudienceToken[],
  former: ReadonlySet<AudienceToken> = NONE,
): string[] {
  const current = former.size === 0 ? tokens : tokens.filter((token) => !former.has(token));
  return [...new Set(current.map((token) => token.split('/', 1)[0] as string))].sort();
}

const NONE: ReadonlySet<AudienceToken> = new Set();

/** The stored fields (`_source` of the mapping). Fields for searching and sorting are derived from the stored fields and only indexed. */
export interface ContactSource extends Pick<IndexedContact, 'creation' | 'removals' | 'updates'> {
  contact: Json<Contact>;
  record_order: string | null;
  /** Tokens of the audiences; absent if every token equals its id. */
  memberships?: AudienceToken[];
  /** The import that the contact names, and when it accepted the contact, in milliseconds since the epoch. */
  import?: { id: string; accepted_at: number; is_changed: boolean };
}

/** The outcome of the create request, and the reservation of credits that it used. */
export interface Creation {
  /** Id of the attempt that wrote the contact. */
  attempt: string;
  reservation: string | null;
  creditsConsumed: number | null;
  creditBalance: number | null;
  duplicates: string[];
}

/**
 * Occupies the id of an abandoned creation, so that a late write conflicts. Also occupies the id of a deleted contact, so that a record
 * older than `record_order` does not create the contact again.
 */
export interface Tombstone {
  /** Milliseconds since the epoch. */
  abandoned_at: number;
  record_order?: string;
  /**
   * Organization of a deleted or erased contact, for the feed of changes. The name of the field differs from that of contacts, so that
   * no search finds tombstones.
   */
  mark_organization_id?: string;
  /** When the mark was written, in milliseconds since the epoch. */
  marked_at?: number;
  /** Whether the contact was erased. The tombstone is then deleted with its mark. */
  erased?: true;
}

/** The fields that make a tombstone a mark in the feed of changes. */
export const markOf = (organizationId: string): Pick<Tombstone, 'mark_organization_id' | 'marked_at'> => ({
  mark_organization_id: organizationId,
  marked_at: systemClock.now(),
});

export function isTombstone(state: object): state is Tombstone {
  return 'abandoned_at' in state;
}

export function parseContactSource(source: ContactSource): IndexedContact {
  const { contact, record_order, creation, removals, updates, memberships, import: origin } = source;
  const stored = parseContact(contact, record_order);
  const imported = origin && { acceptedMs: origin.accepted_at, isChanged: origin.is_changed };
  return { ...stored, audienceIds: memberships ?? stored.audienceIds, creation, removals, updates, imported };
}

export function parseSource(source: ContactSource | Tombstone): IndexedContact | Tombstone {
  return isTombstone(source) ? source : parseContactSource(source);
}

/** The stored version of a contact, into which new records are merged. */
export function toVersion(state: IndexedContact | Tombstone): StoredContact | Deletion | undefined {
  if (!isTombstone(state)) return state;
  return state.record_order === undefined ? undefined : { recordOrder: state.record_order };
}

/** The contact as the API returns it: without deleted audiences, which the document may still name. */
export function currentContact(source: ContactSource, former: ReadonlySet<AudienceToken>): Json<Contact> {
  if (former.size === 0) return source.contact;
  const contact = fromJson(source.contact);
  const tokens = source.memberships ?? contact.audience_ids;
  if (!tokens.some((token) => former.has(token))) return source.contact;
  return toJson({ ...contact, audience_ids: publicIds(tokens, former) });
}

/** An outcome as the API returns it. */
export function publicOutcome<Outcome extends { kind: string }>(outcome: Outcome): Outcome {
  const { contact } = outcome as { contact?: Contact };
  if (!contact?.audience_ids.some((token) => token.includes('/'))) return outcome;
  return { ...outcome, contact: { ...contact, audience_ids: publicIds(contact.audience_ids) } };
}

/** The document to index. */
export function contactDocument(state: IndexedContact | Tombstone): object {
  if (isTombstone(state)) return state;
  const { body, audienceIds } = state;
  const origin = importOf(state);
  const hasTokens = audienceIds.some((token) => token.includes('/'));
  const document: ContactSource & Record<string, unknown> = {
    contact: contactJson(hasTokens ? { ...state, audienceIds: publicIds(audienceIds) } : state),
    memberships: hasTokens ? audienceIds : undefined,
    record_order: state.recordOrder,
    creation: state.creation,
    removals: state.removals,
    updates: state.updates,
    import: origin
      ? { id: origin.id, accepted_at: origin.acceptedMs, is_changed: origin.isChanged }
      : undefined,
    organization_id: body.organization_id,
    contact_id: body.contact_id,
    created_at: state.createdMs,
    updated_at: state.updatedMs,
    audience_ids: audienceIds,
    search: searchFields(body),
  };
  return document;
}

/** Fields for the words of a query, which filters do not search. */
const GROUP_FIELDS = ['names', 'emails', 'company', 'all'] as const;
type TextField = (typeof GROUP_FIELDS)[number] | WordField;

const FIELDS = (Object.keys(SEARCH_FIELDS) as ContactSearchField[]).map((name) => {
  const field = SEARCH_FIELDS[name];
  const tokens = (text: string) => wordTokens(field.wordsOf(text));
  return {
    name,
    into: WORD_FIELDS.find((filtered) => filtered === name) ?? GROUP_FIELDS[field.group],
    tokens: 'isUnique' in field ? tokens : memoize(tokens),
  };
});

/** A single word stands for a list of one, because fields rarely have more than one value. */
type WordValues = Record<TextField, string | string[] | undefined>;

/**
 * Fields for searching. Undefined fields are not sent. The object declares all fields first, because V8 creates objects of one shape
 * fastest.
 */
function searchFields(body: ContactBody): object {
  const values = searchableValues(body);
  const { whole, parts, initials } = searchableName(body);
  const fields = {
    first_name: undefined,
    last_name: undefined,
    job_title: undefined,
    functional_area: undefined,
    company_name: undefined,
    company_industry: wordTokens(industryWords(body)) || undefined,
    city: undefined,
    state_region: undefined,
    names: undefined,
    emails: undefined,
    company: undefined,
    all: undefined,
    initials: wordTokens(initials),
    whole_name: whole.map(valueToken),
    name_parts: parts.map(valueToken),
    country_value: tokenOf(values.country),
    postal_code_value: tokenOf(values.postal_code),
    company_domain_value: tokenOf(values.company_domain),
    network_a_url_value: tokenOf(values.network_a_url),
    network_a_slug_value: tokenOf(values.network_a_slug),
    data_import_id_value: tokenOf(values.data_import_id),
    seniority_value: tokenOf(values.seniority),
    department_value: tokenOf(values.department),
    domain: contactDomain(body) ?? undefined,
    has: presentFields(body),
    sort: sortValues(body),
    facets: {
      country: body.country,
      job_title: body.job_title,
      company_name: body.company_name,
      company_domain: body.company_domain,
      company_industry: body.company_industry,
      functional_area: body.functional_area,
      city: body.city,
      state_region: body.state_region,
      seniority: values.seniority,
      department: values.department,
    } satisfies Record<FacetField, string | null>,
  } satisfies Record<TextField, string | undefined> &
    Record<`${ValueField}_value`, string | undefined> &
    Record<string, unknown>;
  const byField: WordValues = fields;
  for (const { name, into, tokens } of FIELDS) {
    for (const text of searchableTexts(body, name)) {
      const words = tokens(text);
      if (words === '') continue;
      const before = byField[into];
      if (before === undefined) byField[into] = words;
      else if (typeof before === 'string') byField[into] = [before, words];
      else before.push(words);
    }
  }
  return fields;
}

const tokenOf = (value: string | null) => (value ? valueToken(value) : undefined);
