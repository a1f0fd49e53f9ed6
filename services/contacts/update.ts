/** Checks of an update (contract 3.15) that need only the contact itself. The checks are the same in every store. */
import type { CreateOutcome, UpdateContact, UpdateOutcome } from './contact-store.js';
import { contactTooLarge } from './record-size.js';
import {
  type ContactBody,
  givenFields,
  joinedAudience,
  type StoredContact,
  updatedContact,
} from './stored-contact.js';

/** The contact after the update, or the reason why it cannot be updated. `now` is in milliseconds since the epoch. */
export function applyUpdate<T extends StoredContact>(
  before: T | undefined,
  { changes, ifUpdatedMs }: UpdateContact,
  now: number,
): { kind: 'changed'; before: T; after: T } | Exclude<UpdateOutcome, { kind: 'updated' }> {
  if (!before) return { kind: 'contact_not_found' };
  if (ifUpdatedMs !== undefined && ifUpdatedMs !== before.updatedMs) return { kind: 'changed_meanwhile' };
  const after = updatedContact(before, changes, now);
  const error = contactTooLarge(knownFields(after.body));
  return error ? { kind: 'too_large', error } : { kind: 'changed', before, after };
}

/** A duplicate after it got the fields of a creation, or the reason why the duplicate is not changed. */
export type MergeOutcome<T> =
  | { kind: 'changed'; after: T }
  | Extract<CreateOutcome, { kind: 'too_many_audiences' | 'too_large' | 'contact_suppressed' }>;

/**
 * The duplicate of a contact to be created, after the duplicate got the fields of that contact and joined its audience (contract 3.3).
 * `now` is in milliseconds since the epoch.
 */
export function mergeDuplicate<T extends StoredContact>(
  duplicate: T,
  created: StoredContact,
  now: number,
): MergeOutcome<T> {
  const joined = joinedAudience(duplicate, created.audienceIds[0] as string, now);
  if (joined === null) return { kind: 'too_many_audiences' };
  const after = updatedContact(joined, givenFields(created.body), now);
  const error = contactTooLarge(knownFields(after.body));
  return error ? { kind: 'too_large', error } : { kind: 'changed', after };
}

/** The known fields, in the form of a creating request. */
const knownFields = (body: ContactBody): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null && (value as { length?: number }).length !== 0),
  );
