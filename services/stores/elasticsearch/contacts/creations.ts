import { randomUUID } from 'node:crypto';
import type { CreateContact, CreateOutcome } from '../../../contacts/contact-store.js';
import {
  type CreationFacts,
  checkCredits,
  creationTerms,
  decideCreation,
} from '../../../contacts/creation.js';
import { duplicateKeys } from '../../../contacts/duplicates.js';
import {
  createdContact,
  joinedAudience,
  type StoredContact,
  toContact,
} from '../../../contacts/stored-contact.js';
import { RejectedError } from '../../../shared/store-errors.js';
import { documentId } from '../documents.js';
import { unavailable } from '../errors.js';
import { type AcquiredKey, reassign } from '../idempotency.js';
import {
  findContact,
  findDuplicates,
  isSuppressed,
  lockOf,
  resolveCreation,
  type VersionedContact,
  type WriteStores,
} from './documents.js';
import type { DuplicateLocks } from './duplicate-lock.js';
import {
  type Creation,
  contactDocument,
  type IndexedContact,
  isTombstone,
  parseContactSource,
} from './indexed-contact.js';
import { findToken, join, leaveIfDeleted } from './memberships.js';
import { deleteContacts } from './records.js';
import { updateDuplicate } from './updates.js';

interface CreationAttempt {
  command: CreateContact;
  created: StoredContact;
  /** True with an idempotency key: then a contact that an earlier attempt created counts as created by this attempt. */
  resumable: boolean;
  /** Id of the request. A duplicate that it updates stores the id, so that no attempt applies the update again. */
  updateId: string;
  now: number;
  /** Aborted when the duplicate lock is lost. */
  lost?: AbortSignal;
}

export async function createContact(
  stores: WriteStores & { locks: DuplicateLocks },
  command: CreateContact,
  key: AcquiredKey | undefined,
  now: number,
): Promise<CreateOutcome> {
  const { contact, audienceId, onDuplicate, dryRun } = command;
  const organizationId = contact.organization_id;
  const token = await findToken(stores, organizationId, audienceId);
  const facts: CreationFacts = { hasAudience: token !== null };
  const known = facts.hasAudience && key?.resumed ? await resume(stores, command, key, now) : null;
  if (known) return known;
  const id = key?.lease.source.contact_id ?? contact.contact_id;
  const named = { ...command, contact: { ...contact, id, contact_id: id } };
  const created = createdContact(named.contact, token ?? audienceId);
  const attempt: CreationAttempt = {
    command: named,
    created,
    resumable: key !== undefined,
    updateId: key?.useId ?? randomUUID(),
    now,
  };
  if (!facts.hasAudience || dryRun || onDuplicate === 'create') return decide(stores, attempt, facts);
  const keys = duplicateKeys(created.body);
  return stores.locks.findOrCreate(
    { organizationId, contactId: id, keys: keys.map(lockOf) },
    async () => {
      const found = await findDuplicates(stores.contacts, organizationId, keys);
      // An earlier attempt of the same request may have finished meanwhile.
      const own = found.find(({ body }) => body.contact_id === id);
      if (own?.creation) return createdOutcome(own, own.creation);
      // An update may add keys, so the update needs the locks of these keys.
      if (found.length === 0 || (onDuplicate === 'update' && found.length === 1)) return null;
      return decide(stores, attempt, { ...facts, duplicates: found });
    },
    async (lost) => {
      const duplicates =
        onDuplicate === 'update' ? await findDuplicates(stores.contacts, organizationId, keys) : [];
      return decide(stores, { ...attempt, lost }, { ...facts, duplicates });
    },
  );
}

async function decide(
  stores: WriteStores,
  attempt: CreationAttempt,
  known: CreationFacts,
): Promise<CreateOutcome> {
  const { command, created, now, lost } = attempt;
  const { audienceId, requiredCredits, dryRun } = command;
  const { organization_id: organizationId, contact_id: id } = created.body;
  const { contacts, creditAccounts } = stores;
  let facts = known;
  let reservation: string | null = null;
  const lookUp = async (fact: keyof CreationFacts): Promise<CreationFacts> => {
    switch (fact) {
      case 'hasAudience':
        return { hasAudience: (await findToken(stores, organizationId, audienceId)) !== null };
      case 'isSuppressed':
        return { isSuppressed: await isSuppressed(stores, created) };
      case 'duplicates':
        return { duplicates: await findDuplicates(contacts, organizationId, duplicateKeys(created.body)) };
      case 'joined': {
        const oldest = facts.duplicates?.[0] as StoredContact;
        const token = created.audienceIds[0] as string;
        if (dryRun) return { joined: joinedAudience(oldest, token, now) };
        const { contact_id: contactId } = oldest.body;
        const joined = await join(stores, { organizationId, audienceId, token, contactId }, now);
        return { joined: joined === 'too_many_audiences' ? null : (joined ?? oldest) };
      }
      case 'merged': {
        const duplicate = facts.duplicates?.[0] as IndexedContact;
        const merge = { id: attempt.updateId, now, lost, dryRun };
        const merged = await updateDuplicate(stores, duplicate, created, merge);
        if (merged === null) throw unavailable('the contact to update was deleted meanwhile');
        if (merged.kind === 'changed' && !dryRun) {
          const token = created.audienceIds[0] as string;
          await leaveIfDeleted(stores, organizationId, audienceId, token, [duplicate.body.contact_id]);
        }
        return { merged };
      }
      case 'balance':
        return { balance: await creditAccounts.balance(organizationId) };
      case 'credits': {
        if (dryRun)
          return { credits: checkCredits(await creditAccounts.balance(organizationId), requiredCredits) };
        const credits = await creditAccounts.reserve(organizationId, id, requiredCredits, now);
        if (credits.kind === 'reserved') reservation = credits.reservation;
        return { credits };
      }
      case 'created':
        return { created: (await findContact(contacts, organizationId, id)) ? null : created };
    }
  };
  for (;;) {
    const decision = decideCreation(command, facts);
    if (typeof decision === 'object') return decision;
    if (decision === 'created' && !dryRun) {
      // Stops here if the lock was lost: without the lock, the write would only conflict with a tombstone.
      lost?.throwIfAborted();
      const creation = { attempt: randomUUID(), reservation, ...creationTerms(command, facts) };
      return write(stores, attempt, creation);
    }
    facts = { ...facts, ...(await lookUp(decision)) };
  }
}

/** Settles the reservation if the contact was written; otherwise refunds it, once the write can no longer happen. */
export async function resolveReservation(
  stores: Pick<WriteStores, 'contacts' | 'creditAccounts' | 'suppression'>,
  organizationId: string,
  contactId: string,
  reservation: string,
  now: number,
): Promise<void> {
  const { contacts, creditAccounts } = stores;
  const found = await resolveCreation(contacts, organizationId, contactId, now);
  if (found && (await isSuppressed(stores, parseContactSource(found.source)))) {
    await undoCreation(stores, organizationId, contactId, reservation, now);
    return;
  }
  if (found?.source.creation?.reservation === reservation)
    await creditAccounts.settle(organizationId, reservation);
  else await creditAccounts.refund(organizationId, reservation);
}

/** The outcome of an earlier attempt; null if that attempt wrote nothing. */
async function resume(
  stores: WriteStores,
  command: CreateContact,
  key: AcquiredKey,
  now: number,
): Promise<CreateOutcome | null> {
  const { organization_id: organizationId, contact_id: freshId } = command.contact;
  const { contacts } = stores;
  const id = documentId(organizationId, key.lease.source.contact_id ?? freshId);
  const found = await contacts.get(id, organizationId);
  if (!found) return null;
  if (isTombstone(found.source)) {
    if (await reassign(key, freshId)) return null;
    throw unavailable('another attempt took over');
  }
  await contacts.waitUntilSearchable(found, organizationId);
  const stored = parseContactSource(found.source);
  const { creation } = stored;
  if (await isSuppressed(stores, stored)) {
    return undoCreation(stores, organizationId, stored.body.contact_id, creation?.reservation ?? null, now);
  }
  if (!creation) return { kind: 'contact_exists', contactId: stored.body.contact_id };
  return createdOutcome(stored, creation);
}

async function write(
  stores: WriteStores,
  { command, created, resumable, now }: CreationAttempt,
  creation: Creation,
): Promise<CreateOutcome> {
  const { contacts, creditAccounts } = stores;
  const { organization_id: organizationId, contact_id: contactId } = created.body;
  const id = documentId(organizationId, contactId);
  const document = contactDocument({ ...created, creation });
  const { reservation } = creation;
  const refund = () => reservation && creditAccounts.refund(organizationId, reservation);
  // Not awaited, because the recovery job settles a reservation if this fails.
  const settleSoon = () => {
    if (reservation) creditAccounts.settle(organizationId, reservation).catch(() => undefined);
  };
  let written: unknown;
  try {
    written = await contacts.create(id, document, { routing: organizationId, refresh: 'wait_for' });
  } catch (error) {
    // Only a rejection is certain to have written nothing. Other errors are left to the recovery job.
    if (error instanceof RejectedError) await refund();
    throw error;
  }
  if (written) {
    // An erasure that ran before this write missed the contact, but had suppressed the person.
    if (await isSuppressed(stores, created)) {
      return undoCreation(stores, organizationId, contactId, reservation, now);
    }
    const token = created.audienceIds[0] as string;
    await leaveIfDeleted(stores, organizationId, command.audienceId, token, [contactId]);
    settleSoon();
    return createdOutcome(created, creation);
  }
  const found = await contacts.get(id, organizationId);
  const before = found && !isTombstone(found.source) ? found.source : null;
  if (before?.creation && (resumable || before.creation.attempt === creation.attempt)) {
    if (before.creation.reservation === reservation) settleSoon();
    else await refund();
    await contacts.waitUntilSearchable(found as VersionedContact, organizationId);
    return createdOutcome(parseContactSource(before), before.creation);
  }
  await refund();
  if (before) return { kind: 'contact_exists', contactId };
  throw unavailable('the creation took so long that it was abandoned');
}

/** Undoes the creation of a person who was erased meanwhile. */
async function undoCreation(
  { contacts, creditAccounts }: Pick<WriteStores, 'contacts' | 'creditAccounts'>,
  organizationId: string,
  contactId: string,
  reservation: string | null,
  now: number,
): Promise<CreateOutcome> {
  await deleteContacts(contacts, organizationId, [contactId], now);
  if (reservation) await creditAccounts.refund(organizationId, reservation);
  return { kind: 'contact_suppressed' };
}

function createdOutcome(created: StoredContact, creation: Creation): CreateOutcome {
  const { creditsConsumed, creditBalance, duplicates } = creation;
  return { kind: 'created', contact: toContact(created), creditsConsumed, creditBalance, duplicates };
}
