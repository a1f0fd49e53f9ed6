import { randomUUID } from 'node:crypto';
import type { UpdateContact, UpdateOutcome } from '../../../contacts/contact-store.js';
import { addedKeys } from '../../../contacts/duplicates.js';
import { type StoredContact, toContact } from '../../../contacts/stored-contact.js';
import { applyUpdate, type MergeOutcome, mergeDuplicate } from '../../../contacts/update.js';
import { PartialWriteError } from '../../../shared/store-errors.js';
import type { AcquiredKey } from '../idempotency.js';
import { changeContacts } from './changes.js';
import {
  findContact,
  findDuplicates,
  isSuppressed,
  lockOf,
  MAX_CHANGE_IDS,
  type WriteStores,
} from './documents.js';
import type { DuplicateLocks } from './duplicate-lock.js';
import { type IndexedContact, isTombstone, parseContactSource } from './indexed-contact.js';
import { erasedScreen } from './records.js';

type Stores = Pick<WriteStores, 'contacts' | 'suppression'> & { locks: DuplicateLocks };

interface UpdateAttempt {
  command: UpdateContact;
  /** Id of the request. The contact stores it, so that no attempt applies the update again. */
  id: string;
  now: number;
  /** Aborted when the duplicate lock is lost. */
  lost?: AbortSignal;
}

/** The result of an update like `applyUpdate`; `updated` if an earlier attempt has already written the update. */
function updateOf(
  before: IndexedContact | undefined,
  { command, id, now }: UpdateAttempt,
): ReturnType<typeof applyUpdate<IndexedContact>> | UpdateOutcome {
  if (before?.updates?.includes(id)) return { kind: 'updated', contact: toContact(before) };
  const update = applyUpdate(before, command, now);
  if (update.kind !== 'changed') return update;
  const updates = [...(before?.updates ?? []), id].slice(-MAX_CHANGE_IDS);
  return { ...update, after: { ...update.after, updates } };
}

/** Updates a contact. Searches find it after a refresh. */
export async function updateContact(
  stores: Stores,
  command: UpdateContact,
  key: AcquiredKey | undefined,
  now: number,
): Promise<UpdateOutcome> {
  const { contacts, locks } = stores;
  const { organizationId, contactId } = command;
  const attempt = { command, id: key?.useId ?? randomUUID(), now };
  const found = await findContact(contacts, organizationId, contactId);
  const update = updateOf(found ? parseContactSource(found.source) : undefined, attempt);
  if (update.kind !== 'changed') return update;
  // If an update removed the address of an erased person, the running erasure would not find the contact.
  if (await isSuppressed(stores, update.before, update.after)) return { kind: 'contact_suppressed' };
  const keys = addedKeys(update.before.body, update.after.body);
  if (keys.length === 0) return writeUpdate(stores, attempt);
  return locks.findOrCreate<UpdateOutcome>(
    { organizationId, contactId, keys: keys.map(lockOf) },
    async () => {
      const duplicates = await findDuplicates(contacts, organizationId, keys);
      const other = duplicates.find(({ body }) => body.contact_id !== contactId);
      return other ? { kind: 'contact_exists', contactId: other.body.contact_id } : null;
    },
    async (lost) => {
      const outcome = await writeUpdate(stores, { ...attempt, lost });
      // The next holder of a lock finds duplicates by a search.
      await contacts.refresh();
      return outcome;
    },
  );
}

async function writeUpdate(stores: Stores, attempt: UpdateAttempt): Promise<UpdateOutcome> {
  const update = await changeUnlessErased<ReturnType<typeof updateOf>>(
    stores,
    attempt,
    attempt.command,
    (before) => updateOf(before, attempt),
  );
  return update.kind === 'changed' ? { kind: 'updated', contact: toContact(update.after) } : update;
}

/**
 * Writes the result of `change` for a contact, if the kind of the result is `changed`, and resolves with the result. A person who is erased
 * meanwhile is not written.
 */
async function changeUnlessErased<Change extends { kind: string }>(
  { contacts, suppression }: Pick<Stores, 'contacts' | 'suppression'>,
  { now, lost }: Pick<UpdateAttempt, 'now' | 'lost'>,
  contact: { organizationId: string; contactId: string },
  change: (before: IndexedContact | undefined) => Change | { kind: 'changed'; after: IndexedContact },
): Promise<Change | { kind: 'changed'; after: IndexedContact } | { kind: 'contact_suppressed' }> {
  let outcome = change(undefined);
  try {
    await changeContacts(
      contacts,
      [contact],
      ({ organizationId }) => organizationId,
      ({ contactId }) => contactId,
      (before) => {
        lost?.throwIfAborted();
        outcome = change(before && !isTombstone(before) ? before : undefined);
        return 'after' in outcome ? outcome.after : null;
      },
      erasedScreen(suppression, () => now),
    );
  } catch (error) {
    if (error instanceof PartialWriteError) return { kind: 'contact_suppressed' };
    throw error;
  }
  return outcome;
}

/**
 * Updates the only duplicate of a contact to be created, like `mergeDuplicate`. The caller holds the locks of the keys of the creation.
 * Null if the duplicate was deleted meanwhile.
 */
export async function updateDuplicate(
  stores: Pick<Stores, 'contacts' | 'suppression'>,
  duplicate: IndexedContact,
  created: StoredContact,
  attempt: Omit<UpdateAttempt, 'command'> & { dryRun: boolean },
): Promise<MergeOutcome<IndexedContact> | null> {
  const { id, now, dryRun } = attempt;
  const merge = (before: IndexedContact | undefined) => {
    if (!before) return { kind: 'contact_not_found' as const };
    // An earlier attempt has written the update.
    if (before.updates?.includes(id)) return { kind: 'done' as const, before };
    const merged = mergeDuplicate(before, created, now);
    if (merged.kind !== 'changed') return merged;
    const updates = [...(before.updates ?? []), id].slice(-MAX_CHANGE_IDS);
    return { kind: 'changed' as const, after: { ...merged.after, updates } };
  };
  const first = merge(duplicate);
  if (first.kind === 'changed' && (await isSuppressed(stores, duplicate, first.after)))
    return { kind: 'contact_suppressed' };
  if (dryRun) return first.kind === 'contact_not_found' || first.kind === 'done' ? null : first;
  const { organization_id: organizationId, contact_id: contactId } = duplicate.body;
  const merged = await changeUnlessErased<ReturnType<typeof merge>>(
    stores,
    attempt,
    { organizationId, contactId },
    merge,
  );
  if (merged.kind === 'contact_not_found') return null;
  // The next holder of a lock finds duplicates by a search.
  await stores.contacts.refresh();
  return merged.kind === 'done' ? { kind: 'changed', after: merged.before } : merged;
}
