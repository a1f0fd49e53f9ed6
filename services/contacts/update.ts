/** The checks of an update (contract 3.15) that need only the contact itself, the same in every store. */
import type { UpdateContact, UpdateOutcome } from './contact-store.js';
import { contactTooLarge } from './record-size.js';
import { type ContactBody, type StoredContact, updatedContact } from './stored-contact.js';

/** The contact after the update, or why there is none. `now` in milliseconds since the epoch. */
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

/** The fields as a request that creates the contact gives them. */
const knownFields = (body: ContactBody): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null && (value as { length?: number }).length !== 0),
  );
