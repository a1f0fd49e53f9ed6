/** Decides which contacts are the same person (contract 3.3). */
import { normalizeEmail, normalizeProfileUrl } from '../search/normalize.js';
import type { ContactBody } from './stored-contact.js';

/** Duplicates that a dry run lists. */
export const MAX_DUPLICATES = 100;

/** Contacts that share an indexed key and are compared; the oldest come first. */
export const MAX_DUPLICATE_CANDIDATES = 1000;

/** A profile address or a work email in normal form. */
export interface DuplicateKey {
  kind: 'profile' | 'email';
  value: string;
}

/** Two contacts are duplicates when they share a key. A contact without keys has no duplicates. */
export function duplicateKeys({ work_emails, network_a_url }: Addresses): DuplicateKey[] {
  const keys: DuplicateKey[] = (work_emails ?? []).map((email) => ({
    kind: 'email',
    value: normalizeEmail(email),
  }));
  const profile = network_a_url && normalizeProfileUrl(network_a_url);
  if (profile) keys.push({ kind: 'profile', value: profile });
  return keys;
}

/** Fields of a contact or of its record from which keys are made. */
type Addresses = { [Field in 'work_emails' | 'network_a_url']?: ContactBody[Field] | null };

/** Whether the contact has one of the keys. */
export const hasKey = (body: ContactBody, keys: readonly DuplicateKey[]): boolean =>
  duplicateKeys(body).some((own) => includesKey(keys, own));

/** The keys that a change adds: whoever has one of them became a duplicate by the change. */
export function addedKeys(before: ContactBody, after: ContactBody): DuplicateKey[] {
  const known = duplicateKeys(before);
  return duplicateKeys(after).filter((key) => !includesKey(known, key));
}

const includesKey = (keys: readonly DuplicateKey[], { kind, value }: DuplicateKey): boolean =>
  keys.some((key) => key.kind === kind && key.value === value);

/** Holders of a key that `findPeople` answers: more than one is ambiguous, however many there are. */
export const MAX_HOLDERS = 2;

/** Ids and keys of people who may be in the store. All ids are different, and so are all keys. */
export interface PeopleQuery {
  organizationId: string;
  contactIds: readonly string[];
  keys: readonly DuplicateKey[];
}

export interface KnownPeople {
  /** The given ids that contacts have. */
  contactIds: string[];
  /** Ids of contacts that have a key, for each key: the oldest `MAX_HOLDERS`. */
  holders: string[][];
}
