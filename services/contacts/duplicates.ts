/** Decides which contacts are the same person (contract 3.3). */
import { normalizeEmail, normalizeProfileUrl } from '../search/normalize.js';
import type { ContactBody } from './stored-contact.js';

/** Maximum number of duplicates that a dry run lists. */
export const MAX_DUPLICATES = 100;

/** Maximum number of contacts with the same indexed key that are compared; the oldest contacts are compared. */
export const MAX_DUPLICATE_CANDIDATES = 1000;

/** A normalized profile address or work email. */
export interface DuplicateKey {
  kind: 'profile' | 'email';
  value: string;
}

/** Returns the keys of a contact. Two contacts are duplicates if they share a key. A contact without keys has no duplicates. */
export function duplicateKeys({ work_emails, network_a_url }: Addresses): DuplicateKey[] {
  const keys: DuplicateKey[] = (work_emails ?? []).map((email) => ({
    kind: 'email',
    value: normalizeEmail(email),
  }));
  const profile = network_a_url && normalizeProfileUrl(network_a_url);
  if (profile) keys.push({ kind: 'profile', value: profile });
  return keys;
}

/** Fields of a contact, or of a record of a contact, from which keys are made. */
type Addresses = { [Field in 'work_emails' | 'network_a_url']?: ContactBody[Field] | null };

/** Whether the contact has one of the keys. */
export const hasKey = (body: ContactBody, keys: readonly DuplicateKey[]): boolean =>
  duplicateKeys(body).some((own) => includesKey(keys, own));

/** The keys that a change adds. Contacts with one of these keys become duplicates through the change. */
export function addedKeys(before: ContactBody, after: ContactBody): DuplicateKey[] {
  const known = duplicateKeys(before);
  return duplicateKeys(after).filter((key) => !includesKey(known, key));
}

const includesKey = (keys: readonly DuplicateKey[], { kind, value }: DuplicateKey): boolean =>
  keys.some((key) => key.kind === kind && key.value === value);

/** Maximum number of holders of a key that `findPeople` returns: with more than one holder, the key is ambiguous. */
export const MAX_HOLDERS = 2;

/** Ids and keys of people to look up in the store. The ids are distinct, and so are the keys. */
export interface PeopleQuery {
  organizationId: string;
  contactIds: readonly string[];
  keys: readonly DuplicateKey[];
}

export interface KnownPeople {
  /** The given ids for which a contact exists. */
  contactIds: string[];
  /** For each key, the ids of contacts that have the key: the oldest, up to `MAX_HOLDERS`. */
  holders: string[][];
}
