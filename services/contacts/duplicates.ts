/** Which contacts are the same person (contract 3.3). */
import { normalizeEmail } from '../search/normalize.js';
import { searchableValues } from './searchable.js';
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
export function duplicateKeys(body: ContactBody): DuplicateKey[] {
  const keys: DuplicateKey[] = body.work_emails.map((email) => ({
    kind: 'email',
    value: normalizeEmail(email),
  }));
  const { network_a_url: profile } = searchableValues(body);
  if (profile) keys.push({ kind: 'profile', value: profile });
  return keys;
}

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
