import { randomUUID } from 'node:crypto';
import type {
  AddOutcome,
  CreateContact,
  CreateOutcome,
  Membership,
  MembershipChange,
  MembershipChangeOutcome,
  RemoveOutcome,
  UpdateContact,
  UpdateOutcome,
} from '../../../contacts/contact-store.js';
import {
  type CreationFacts,
  checkCredits,
  creationTerms,
  decideCreation,
} from '../../../contacts/creation.js';
import { addedKeys, type DuplicateKey, duplicateKeys, hasKey } from '../../../contacts/duplicates.js';
import type { ContactRecord } from '../../../contacts/schema.js';
import {
  applyRecord,
  createdContact,
  joinedAudience,
  type StoredContact,
  toContact,
  withMembership,
  withoutAudience,
} from '../../../contacts/stored-contact.js';
import { identifiersOf, suppressedRecord } from '../../../contacts/suppression.js';
import { applyUpdate } from '../../../contacts/update.js';
import { type Deletion, deletionAt, isDeletion, type OrderedRecord } from '../../../shared/record-order.js';
import { PartialWriteError, RejectedError } from '../../../shared/store-errors.js';
import type { Clock } from '../../../shared/time.js';
import { applyRecords, type Screen } from '../apply-records.js';
import { type AudienceSource, type AudienceTombstone, isAudience } from '../audiences.js';
import type { Ledger } from '../credits.js';
import { type Documents, documentId } from '../documents.js';
import type { Person, SuppressionList } from '../erasure/suppression.js';
import { unavailable } from '../errors.js';
import { type AcquiredKey, reassign } from '../idempotency.js';
import { pageSort } from '../pages.js';
import { retryWithBackoff } from '../retry.js';
import { type ContactDocuments, resolveCreation, type VersionedContact } from './creations.js';
import type { DuplicateLocks } from './duplicate-lock.js';
import {
  type ContactSource,
  type Creation,
  contactDocument,
  type IndexedContact,
  isTombstone,
  parseContactSource,
  parseSource,
  type Tombstone,
  toVersion,
} from './mapping.js';
import { duplicateQuery } from './search.js';

const TOO_MANY = 'too_many_audiences';

/** Removals and updates that a contact remembers, each. */
const MAX_CHANGE_IDS = 16;

const MEMBERSHIPS_PER_STEP = 1000;

/** What became of a contact that was to join or leave an audience. */
type MembershipResult = 'changed' | 'unchanged' | 'notFound' | 'full';

interface CreationAttempt {
  command: CreateContact;
  created: StoredContact;
  /** Under an idempotency key: the contact of an earlier attempt counts as this one's. */
  resumable: boolean;
  now: number;
  /** Aborted when the duplicate lock is lost. */
  lost?: AbortSignal;
}

interface UpdateAttempt {
  command: UpdateContact;
  /** Of the request: the contact remembers it, so that no attempt applies the update again. */
  id: string;
  now: number;
  /** Aborted when the duplicate lock is lost. */
  lost?: AbortSignal;
}

const lockOf = ({ kind, value }: DuplicateKey): string => `${kind} ${value}`;

/** As `applyUpdate`; `updated` where an earlier attempt has written it. */
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

interface Stores {
  contacts: ContactDocuments;
  audiences: Documents<AudienceSource | AudienceTombstone>;
  ledger: Ledger;
  suppression: SuppressionList;
  locks: DuplicateLocks;
  clock: Clock;
}

/** Applies stream records (contract 6.2). */
export function upsertContacts(
  contacts: ContactDocuments,
  records: readonly OrderedRecord<ContactRecord>[],
  suppression: SuppressionList,
): Promise<void> {
  return applyRecords<ContactSource | Tombstone, IndexedContact | Tombstone, OrderedRecord<ContactRecord>>(
    contacts,
    records,
    {
      idOf: ({ record }) => documentId(record.organization_id, record.contact_id),
      routingOf: ({ record }) => record.organization_id,
      fromSource: parseSource,
      apply(before: IndexedContact | Tombstone | undefined, ordered) {
        const stored = applyRecord(before && toVersion(before), ordered);
        if (stored === null) return null;
        if (isDeletion(stored)) return tombstoneOf(stored, ordered.acceptedAt);
        if (before === undefined || isTombstone(before)) return stored;
        const { creation, removals, updates } = before;
        return { ...stored, creation, removals, updates };
      },
      toDocument: contactDocument,
      screen: erasedScreen(suppression, ({ acceptedAt }) => acceptedAt),
    },
  );
}

/** `timeOf` in milliseconds since the epoch. */
const erasedScreen = <Change>(
  suppression: SuppressionList,
  timeOf: (change: Change) => number,
): Screen<IndexedContact | Tombstone, Change> => ({
  forbidden: (states) =>
    suppression.suppressed(new Map([...states].map(([id, state]) => [id, personOf(id, state)]))),
  rejection: suppressedRecord,
  removed: (stored, change) =>
    isTombstone(stored) ? null : tombstoneOf(deletionAt(timeOf(change), stored), timeOf(change)),
});

/** `id` is that of the document. */
function personOf(id: string, state: IndexedContact | Tombstone): Person {
  const [organizationId = '', contactId = ''] = id.split('/');
  const identifiers = isTombstone(state)
    ? [{ kind: 'id' as const, value: contactId }]
    : identifiersOf(state.body);
  return { organizationId, identifiers };
}

const tombstoneOf = ({ recordOrder }: Deletion, now: number): Tombstone => ({
  abandoned_at: now,
  record_order: recordOrder,
});

/** Resolves with the ids of the contacts that existed. `now` in milliseconds since the epoch. */
export async function deleteContacts(
  contacts: ContactDocuments,
  organizationId: string,
  contactIds: readonly string[],
  now: number,
): Promise<Set<string>> {
  const deleted = new Set<string>();
  await applyRecords(contacts, contactIds, {
    idOf: (id) => documentId(organizationId, id),
    routingOf: () => organizationId,
    fromSource: parseSource,
    apply(before, id) {
      if (before === undefined || isTombstone(before)) return null;
      deleted.add(id);
      return tombstoneOf(deletionAt(now, before), now);
    },
    toDocument: contactDocument,
  });
  return deleted;
}

export class ContactWrites {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  async create(command: CreateContact, key: AcquiredKey | undefined, now: number): Promise<CreateOutcome> {
    const { contact, audienceId, onDuplicate, dryRun } = command;
    const organizationId = contact.organization_id;
    const facts: CreationFacts = { hasAudience: await this.#hasAudience(organizationId, audienceId) };
    const known = facts.hasAudience && key?.resumed ? await this.#resume(command, key, now) : null;
    if (known) return known;
    const id = key?.lease.source.contact_id ?? contact.contact_id;
    const named = { ...command, contact: { ...contact, id, contact_id: id } };
    const created = createdContact(named.contact, audienceId);
    const attempt: CreationAttempt = { command: named, created, resumable: key !== undefined, now };
    if (!facts.hasAudience || dryRun || onDuplicate === 'create') return this.#decide(attempt, facts);
    return this.#stores.locks.findOrCreate(
      {
        organizationId,
        contactId: id,
        keys: duplicateKeys(created.body).map(lockOf),
      },
      async () => {
        const found = await this.#findDuplicates(organizationId, duplicateKeys(created.body));
        // An earlier attempt of the same request may have finished meanwhile.
        const own = found.find(({ body }) => body.contact_id === id);
        if (own?.creation) return createdOutcome(own, own.creation);
        return found.length === 0 ? null : this.#decide(attempt, { ...facts, duplicates: found });
      },
      (lost) => this.#decide({ ...attempt, lost }, { ...facts, duplicates: [] }),
    );
  }

  async #decide(attempt: CreationAttempt, known: CreationFacts): Promise<CreateOutcome> {
    const { command, created, resumable, now, lost } = attempt;
    const { audienceId, requiredCredits, dryRun } = command;
    const { organization_id: organizationId, contact_id: id } = created.body;
    const { ledger } = this.#stores;
    const facts = { ...known };
    let reservation: string | null = null;
    for (;;) {
      const decision = decideCreation(command, facts);
      switch (decision) {
        case 'hasAudience':
          facts.hasAudience = await this.#hasAudience(organizationId, audienceId);
          break;
        case 'isSuppressed': {
          facts.isSuppressed = await this.#isSuppressed(created);
          break;
        }
        case 'duplicates':
          facts.duplicates = await this.#findDuplicates(organizationId, duplicateKeys(created.body));
          break;
        case 'joined': {
          const oldest = facts.duplicates?.[0] as StoredContact;
          if (dryRun) {
            facts.joined = joinedAudience(oldest, audienceId, now);
          } else {
            const joined = await this.#join(organizationId, oldest.body.contact_id, audienceId, now);
            await this.#leaveIfDeleted(organizationId, audienceId, [oldest.body.contact_id]);
            facts.joined = joined === TOO_MANY ? null : (joined ?? oldest);
          }
          break;
        }
        case 'balance':
          facts.balance = await ledger.balance(organizationId);
          break;
        case 'credits':
          if (dryRun) {
            facts.credits = checkCredits(await ledger.balance(organizationId), requiredCredits);
          } else {
            const reserved = await ledger.reserve(organizationId, id, requiredCredits, now);
            if (reserved.kind === 'reserved') reservation = reserved.reservation;
            facts.credits = reserved;
          }
          break;
        case 'created': {
          if (!dryRun) {
            // Without the lock the write would only conflict with a tombstone.
            lost?.throwIfAborted();
            const creation = { attempt: randomUUID(), reservation, ...creationTerms(command, facts) };
            return this.#write(created, creation, resumable, now);
          }
          facts.created = (await this.#find(organizationId, id)) ? null : created;
          break;
        }
        default:
          return decision;
      }
    }
  }

  /** Searches find it after a refresh. */
  async update(command: UpdateContact, key: AcquiredKey | undefined, now: number): Promise<UpdateOutcome> {
    const { organizationId, contactId } = command;
    const attempt = { command, id: key?.useId ?? randomUUID(), now };
    const checked = await this.#checkUpdate(attempt);
    if (checked.kind !== 'changed') return checked;
    const keys = addedKeys(checked.before.body, checked.after.body);
    if (keys.length === 0) return this.#writeUpdate(attempt);
    return this.#stores.locks.findOrCreate<UpdateOutcome>(
      { organizationId, contactId, keys: keys.map(lockOf) },
      async () => {
        const duplicates = await this.#findDuplicates(organizationId, keys);
        const other = duplicates.find(({ body }) => body.contact_id !== contactId);
        return other ? { kind: 'contact_exists', contactId: other.body.contact_id } : null;
      },
      async (lost) => {
        const outcome = await this.#writeUpdate({ ...attempt, lost });
        // The next holder of a lock looks for duplicates by a search.
        await this.#stores.contacts.refresh();
        return outcome;
      },
    );
  }

  async add({ organizationId, audienceId, contactId }: Membership, now: number): Promise<AddOutcome> {
    if (!(await this.#hasAudience(organizationId, audienceId))) return { kind: 'audience_not_found' };
    const member = await this.#join(organizationId, contactId, audienceId, now);
    if (member === TOO_MANY) return { kind: TOO_MANY };
    await this.#leaveIfDeleted(organizationId, audienceId, [contactId]);
    return member ? { kind: 'added', contact: toContact(member) } : { kind: 'contact_not_found' };
  }

  async remove(
    { organizationId, audienceId, contactId }: Membership,
    key: AcquiredKey | undefined,
    now: number,
  ): Promise<RemoveOutcome> {
    if (!(await this.#hasAudience(organizationId, audienceId))) return { kind: 'audience_not_found' };
    let removed = false;
    await this.#change(organizationId, contactId, (before) => {
      const after = withoutAudience(before, audienceId, now);
      const { removals = [] } = before;
      const repeated = key !== undefined && removals.includes(key.useId);
      removed = after !== before || repeated;
      if (after === before) return null;
      return key ? { ...after, removals: [...removals, key.useId].slice(-MAX_CHANGE_IDS) } : after;
    });
    return { kind: 'removed', removed };
  }

  async changeMemberships(change: MembershipChange): Promise<MembershipChangeOutcome> {
    const { organizationId, audienceId, contactIds } = change;
    if (!(await this.#hasAudience(organizationId, audienceId))) return { kind: 'audience_not_found' };
    const ids = await this.#changeAll(change);
    if (change.change === 'join') await this.#leaveIfDeleted(organizationId, audienceId, contactIds);
    return {
      kind: 'changed',
      changed: ids.changed.length,
      unchanged: ids.unchanged.length,
      notFound: ids.notFound,
      full: ids.full,
    };
  }

  /** Removes every membership of an audience that was deleted, step by step. Does nothing while there is such an audience. */
  async removeOrphanedMemberships(organizationId: string, audienceId: string): Promise<void> {
    const { contacts } = this.#stores;
    const isDeleted = async () => (await this.#findAudience(organizationId, audienceId)) === 'deleted';
    if (!(await isDeleted())) return;
    await contacts.refresh();
    const members = contacts.pages({
      routing: organizationId,
      size: MEMBERSHIPS_PER_STEP,
      _source: false,
      query: {
        bool: {
          filter: [{ term: { organization_id: organizationId } }, { term: { audience_ids: audienceId } }],
        },
      },
      sort: pageSort('contact_id', false),
    });
    let hasLeft = false;
    for await (const hits of members) {
      if (hits.length === 0 || !(await isDeleted())) break;
      const ids = hits.map(({ sort }) => String(sort?.[1]));
      await this.#leave(organizationId, audienceId, ids);
      hasLeft = true;
    }
    if (hasLeft) await contacts.refresh();
  }

  /** What the update comes to, duplicates aside. */
  async #checkUpdate(attempt: UpdateAttempt) {
    const { organizationId, contactId } = attempt.command;
    const found = await this.#find(organizationId, contactId);
    const update = updateOf(found ? parseContactSource(found.source) : undefined, attempt);
    if (update.kind !== 'changed' || !(await this.#isSuppressed(update.after))) return update;
    return { kind: 'contact_suppressed' } as const;
  }

  async #writeUpdate(attempt: UpdateAttempt): Promise<UpdateOutcome> {
    const { contacts, suppression } = this.#stores;
    const { command, now, lost } = attempt;
    let outcome: UpdateOutcome = { kind: 'contact_not_found' };
    try {
      await applyRecords<ContactSource | Tombstone, IndexedContact | Tombstone, UpdateContact>(
        contacts,
        [command],
        {
          idOf: ({ organizationId, contactId }) => documentId(organizationId, contactId),
          routingOf: ({ organizationId }) => organizationId,
          fromSource: parseSource,
          apply(before) {
            lost?.throwIfAborted();
            const update = updateOf(before && !isTombstone(before) ? before : undefined, attempt);
            if (update.kind !== 'changed') {
              outcome = update;
              return null;
            }
            outcome = { kind: 'updated', contact: toContact(update.after) };
            return update.after;
          },
          toDocument: contactDocument,
          screen: erasedScreen(suppression, () => now),
        },
      );
    } catch (error) {
      if (error instanceof PartialWriteError) return { kind: 'contact_suppressed' };
      throw error;
    }
    return outcome;
  }

  /** Settles the reservation of a contact that was written, and refunds it otherwise, once the write can no longer happen. */
  async resolveReservation(
    organizationId: string,
    contactId: string,
    reservation: string,
    now: number,
  ): Promise<void> {
    const { contacts, ledger } = this.#stores;
    const found = await resolveCreation(contacts, organizationId, contactId, now);
    if (found && (await this.#isSuppressed(parseContactSource(found.source)))) {
      await this.#withdraw(organizationId, contactId, reservation, now);
      return;
    }
    if (found?.source.creation?.reservation === reservation) await ledger.settle(organizationId, reservation);
    else await ledger.refund(organizationId, reservation);
  }

  /** The outcome of an earlier attempt; null when it wrote nothing. */
  async #resume(command: CreateContact, key: AcquiredKey, now: number): Promise<CreateOutcome | null> {
    const { organization_id: organizationId, contact_id: freshId } = command.contact;
    const { contacts } = this.#stores;
    const found = await contacts.get(
      documentId(organizationId, key.lease.source.contact_id ?? freshId),
      organizationId,
    );
    if (!found) return null;
    if (isTombstone(found.source)) {
      if (await reassign(key, freshId)) return null;
      throw unavailable('another attempt took over');
    }
    await contacts.waitUntilSearchable(found, organizationId);
    const stored = parseContactSource(found.source);
    if (await this.#isSuppressed(stored)) {
      const { reservation = null } = stored.creation ?? {};
      return this.#withdraw(organizationId, stored.body.contact_id, reservation, now);
    }
    if (!stored.creation) return { kind: 'contact_exists', contactId: stored.body.contact_id };
    return createdOutcome(stored, stored.creation);
  }

  async #write(
    created: StoredContact,
    creation: Creation,
    anyAttempt: boolean,
    now: number,
  ): Promise<CreateOutcome> {
    const { contacts, ledger } = this.#stores;
    const { organization_id: organizationId, contact_id: contactId } = created.body;
    const id = documentId(organizationId, contactId);
    const document = contactDocument({ ...created, creation });
    const { reservation } = creation;
    let written: unknown;
    try {
      written = await contacts.create(id, document, { routing: organizationId, refresh: 'wait_for' });
    } catch (error) {
      // Only a rejection is certain to have written nothing; anything else is left to the recovery job.
      if (error instanceof RejectedError && reservation) await ledger.refund(organizationId, reservation);
      throw error;
    }
    // An erasure that did not find the contact suppressed the person before this.
    if (written && (await this.#isSuppressed(created))) {
      return this.#withdraw(organizationId, contactId, reservation, now);
    }
    if (written) {
      await this.#leaveIfDeleted(organizationId, created.audienceIds[0] as string, [contactId]);
      if (reservation) this.#settleSoon(organizationId, reservation);
      return createdOutcome(created, creation);
    }
    const found = await contacts.get(id, organizationId);
    const before = found && !isTombstone(found.source) ? found.source : null;
    if (before?.creation && (anyAttempt || before.creation.attempt === creation.attempt)) {
      if (reservation && before.creation.reservation === reservation)
        this.#settleSoon(organizationId, reservation);
      else if (reservation) await ledger.refund(organizationId, reservation);
      await contacts.waitUntilSearchable(found as VersionedContact, organizationId);
      return createdOutcome(parseContactSource(before), before.creation);
    }
    if (reservation) await ledger.refund(organizationId, reservation);
    if (before) return { kind: 'contact_exists', contactId };
    throw unavailable('the creation took so long that it was abandoned');
  }

  #isSuppressed({ body }: StoredContact): Promise<boolean> {
    const { organization_id: organizationId } = body;
    return this.#stores.suppression.includes({ organizationId, identifiers: identifiersOf(body) });
  }

  /** Takes back the creation of a person who was erased meanwhile. */
  async #withdraw(
    organizationId: string,
    contactId: string,
    reservation: string | null,
    now: number,
  ): Promise<CreateOutcome> {
    const { contacts, ledger } = this.#stores;
    await deleteContacts(contacts, organizationId, [contactId], now);
    if (reservation) await ledger.refund(organizationId, reservation);
    return { kind: 'contact_suppressed' };
  }

  /** Not awaited: the recovery job settles what fails. */
  #settleSoon(organizationId: string, reservation: string): void {
    this.#stores.ledger.settle(organizationId, reservation).catch(() => undefined);
  }

  async #hasAudience(organizationId: string, audienceId: string): Promise<boolean> {
    return (await this.#findAudience(organizationId, audienceId)) === 'found';
  }

  async #findAudience(organizationId: string, audienceId: string): Promise<'found' | 'deleted' | 'unknown'> {
    const id = documentId(organizationId, audienceId);
    const found = await this.#stores.audiences.get(id, organizationId);
    if (found === null) return 'unknown';
    return isAudience(found.source) ? 'found' : 'deleted';
  }

  /**
   * After contacts have joined an audience that was there before: its deletion either finds them as members, or is found here. They
   * joined before it.
   */
  async #leaveIfDeleted(organizationId: string, audienceId: string, contactIds: readonly string[]) {
    if (await this.#hasAudience(organizationId, audienceId)) return;
    await this.#leave(organizationId, audienceId, contactIds);
  }

  async #leave(organizationId: string, audienceId: string, contactIds: readonly string[]): Promise<void> {
    await this.#changeAll({ organizationId, audienceId, contactIds, change: 'leave' });
  }

  /** The ids by what became of them. */
  async #changeAll(change: MembershipChange): Promise<Record<MembershipResult, string[]>> {
    const { organizationId, contactIds } = change;
    const now = this.#stores.clock.now();
    const results = new Map<string, MembershipResult>();
    await applyRecords(this.#stores.contacts, contactIds, {
      idOf: (id) => documentId(organizationId, id),
      routingOf: () => organizationId,
      fromSource: parseSource,
      apply(before, id) {
        const stored = before === undefined || isTombstone(before) ? undefined : before;
        const after = stored && withMembership(stored, change, now);
        const isChanged = after && after !== stored;
        if (after === undefined) results.set(id, 'notFound');
        else if (after === null) results.set(id, 'full');
        else results.set(id, isChanged ? 'changed' : 'unchanged');
        return isChanged ? after : null;
      },
      toDocument: contactDocument,
    });
    const withResult = (result: MembershipResult) => contactIds.filter((id) => results.get(id) === result);
    return {
      changed: withResult('changed'),
      unchanged: withResult('unchanged'),
      notFound: withResult('notFound'),
      full: withResult('full'),
    };
  }

  /** Those that have one of the keys, the oldest first. */
  async #findDuplicates(organizationId: string, keys: readonly DuplicateKey[]): Promise<IndexedContact[]> {
    if (keys.length === 0) return [];
    const { hits } = await this.#stores.contacts.search(duplicateQuery(organizationId, keys));
    return hits.hits
      .map(({ _source }) => parseContactSource(_source as ContactSource))
      .filter(({ body }) => hasKey(body, keys));
  }

  async #find(organizationId: string, contactId: string): Promise<VersionedContact | null> {
    const found = await this.#stores.contacts.get(documentId(organizationId, contactId), organizationId);
    return found && !isTombstone(found.source) ? (found as VersionedContact) : null;
  }

  /** The contact with its new audience; null when it does not exist. */
  async #join(
    organizationId: string,
    contactId: string,
    audienceId: string,
    now: number,
  ): Promise<StoredContact | typeof TOO_MANY | null> {
    let isFull = false;
    const member = await this.#change(organizationId, contactId, (before) => {
      const after = joinedAudience(before, audienceId, now);
      isFull = after === null;
      return after === before ? null : after;
    });
    return isFull ? TOO_MANY : member;
  }

  /** Changes a contact by compare-and-set; `change` returns null when nothing changes. Null when the contact does not exist. */
  async #change(
    organizationId: string,
    contactId: string,
    change: (before: IndexedContact) => IndexedContact | null,
  ): Promise<IndexedContact | null> {
    const { contacts } = this.#stores;
    const options = { routing: organizationId, refresh: 'wait_for' } as const;
    // Requests of this process queue up instead of conflicting with each other.
    return contacts.keyedMutex.runExclusive([documentId(organizationId, contactId)], () =>
      retryWithBackoff(async () => {
        const found = await this.#find(organizationId, contactId);
        if (!found) return null;
        const before = parseContactSource(found.source);
        const after = change(before);
        if (after === null) {
          await contacts.waitUntilSearchable(found, organizationId);
          return before;
        }
        const written = await contacts.replace(found, contactDocument(after), options);
        return written ? after : undefined;
      }),
    );
  }
}

function createdOutcome(created: StoredContact, creation: Creation): CreateOutcome {
  const { creditsConsumed, creditBalance, duplicates } = creation;
  return { kind: 'created', contact: toContact(created), creditsConsumed, creditBalance, duplicates };
}
