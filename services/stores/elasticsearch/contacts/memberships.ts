/** Joining and leaving of audiences by contacts. */
import type {
  AddOutcome,
  Membership,
  MembershipChange,
  MembershipChangeOutcome,
  RemoveOutcome,
} from '../../../contacts/contact-store.js';
import {
  joinedAudience,
  type StoredContact,
  toContact,
  withMembership,
  withoutAudience,
} from '../../../contacts/stored-contact.js';
import { isAudience } from '../audience-documents.js';
import { documentId } from '../documents.js';
import type { AcquiredKey } from '../idempotency.js';
import { retryWithBackoff } from '../retry.js';
import { changeContacts } from './changes.js';
import { findContact, MAX_CHANGE_IDS, type WriteStores } from './documents.js';
import { leaveFormer } from './former-memberships.js';
import {
  type AudienceToken,
  audienceToken,
  contactDocument,
  type IndexedContact,
  isTombstone,
  parseContactSource,
} from './indexed-contact.js';

type Stores = Pick<WriteStores, 'contacts' | 'audiences' | 'clock'>;

const TOO_MANY = 'too_many_audiences';

export async function addMembership(
  stores: Stores,
  { organizationId, audienceId, contactId }: Membership,
  now: number,
): Promise<AddOutcome> {
  const token = await findToken(stores, organizationId, audienceId);
  if (token === null) return { kind: 'audience_not_found' };
  const member = await join(stores, { organizationId, audienceId, token, contactId }, now);
  if (member === TOO_MANY) return { kind: TOO_MANY };
  return member ? { kind: 'added', contact: toContact(member) } : { kind: 'contact_not_found' };
}

export async function removeMembership(
  stores: Stores,
  { organizationId, audienceId, contactId }: Membership,
  key: AcquiredKey | undefined,
  now: number,
): Promise<RemoveOutcome> {
  const token = await findToken(stores, organizationId, audienceId);
  if (token === null) return { kind: 'audience_not_found' };
  let removed = false;
  await changeContact(stores, organizationId, contactId, (before) => {
    const after = withoutAudience(before, token, now);
    const { removals = [] } = before;
    const repeated = key !== undefined && removals.includes(key.useId);
    removed = after !== before || repeated;
    if (after === before) return null;
    return key ? { ...after, removals: [...removals, key.useId].slice(-MAX_CHANGE_IDS) } : after;
  });
  return { kind: 'removed', removed };
}

export async function changeMemberships(
  stores: Stores,
  change: MembershipChange,
): Promise<MembershipChangeOutcome> {
  const { organizationId, audienceId, contactIds } = change;
  const token = await findToken(stores, organizationId, audienceId);
  if (token === null) return { kind: 'audience_not_found' };
  const results = await changeAll(stores, { ...change, audienceId: token });
  if (change.change === 'join') await leaveIfDeleted(stores, organizationId, audienceId, token, contactIds);
  const withResult = (result: MembershipResult) => contactIds.filter((id) => results.get(id) === result);
  return {
    kind: 'changed',
    changed: withResult('changed'),
    unchanged: withResult('unchanged').length,
    notFound: withResult('notFound'),
    full: withResult('full'),
  };
}

/** The token by which contacts become members of an audience; null if there is no such audience. */
export async function findToken(
  { audiences }: Pick<Stores, 'audiences'>,
  organizationId: string,
  audienceId: string,
): Promise<AudienceToken | null> {
  const found = await audiences.get(documentId(organizationId, audienceId), organizationId);
  return found && isAudience(found.source) ? audienceToken(audienceId, found.source.generation) : null;
}

/**
 * Called after contacts have joined an existing audience: either a concurrent deletion of the audience finds these contacts as members, or
 * this check finds the deletion.
 */
export async function leaveIfDeleted(
  stores: Stores,
  organizationId: string,
  audienceId: string,
  token: AudienceToken,
  contactIds: readonly string[],
): Promise<void> {
  if ((await findToken(stores, organizationId, audienceId)) === token) return;
  await leaveFormer(stores.contacts, organizationId, token, contactIds, stores.clock.now());
}

/** Outcome for a contact that should join or leave an audience. */
type MembershipResult = 'changed' | 'unchanged' | 'notFound' | 'full';

/** Changes contacts. Resolves with the outcome of each contact, by contact id. */
async function changeAll(
  { contacts, clock }: Stores,
  change: MembershipChange,
): Promise<Map<string, MembershipResult>> {
  const { organizationId, contactIds } = change;
  const now = clock.now();
  const results = new Map<string, MembershipResult>();
  await changeContacts(
    contacts,
    contactIds,
    () => organizationId,
    (id) => id,
    (before, id) => {
      const stored = before === undefined || isTombstone(before) ? undefined : before;
      const after = stored && withMembership(stored, change, now);
      const isChanged = after && after !== stored;
      if (after === undefined) results.set(id, 'notFound');
      else if (after === null) results.set(id, 'full');
      else results.set(id, isChanged ? 'changed' : 'unchanged');
      return isChanged ? after : null;
    },
  );
  return results;
}

/** The contact with its new audience; null if it does not exist. */
export async function join(
  stores: Stores,
  { organizationId, audienceId, token, contactId }: Membership & { token: AudienceToken },
  now: number,
): Promise<StoredContact | typeof TOO_MANY | null> {
  let isFull = false;
  const member = await changeContact(stores, organizationId, contactId, (before) => {
    const after = joinedAudience(before, token, now);
    isFull = after === null;
    return after === before ? null : after;
  });
  if (isFull) return TOO_MANY;
  await leaveIfDeleted(stores, organizationId, audienceId, token, [contactId]);
  return member;
}

/**
 * Changes a contact by compare-and-set. `change` returns null to leave the contact unchanged. Resolves with null if the contact does not
 * exist.
 */
function changeContact(
  { contacts }: Stores,
  organizationId: string,
  contactId: string,
  change: (before: IndexedContact) => IndexedContact | null,
): Promise<IndexedContact | null> {
  const options = { routing: organizationId, refresh: 'wait_for' } as const;
  // Requests of this process queue up, so that they do not conflict with each other.
  return contacts.keyedMutex.runExclusive([documentId(organizationId, contactId)], () =>
    retryWithBackoff(async () => {
      const found = await findContact(contacts, organizationId, contactId);
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
