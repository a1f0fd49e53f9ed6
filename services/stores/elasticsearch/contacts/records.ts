/** Applies stream records and deletions. */
import { MAX_DELETED_BYTES, type OneDeletion } from '../../../contacts/contact-store.js';
import type { Contact, ContactRecord } from '../../../contacts/schema.js';
import { applyRecord, isAsImported } from '../../../contacts/stored-contact.js';
import { identifiersOf, suppressedRecord, uniqueIdentifiers } from '../../../contacts/suppression.js';
import type { Json } from '../../../shared/json.js';
import {
  type Deletion,
  deletionAt,
  deletionOfImport,
  isDeletion,
  type OrderedRecord,
} from '../../../shared/record-order.js';
import { PartialWriteError } from '../../../shared/store-errors.js';
import type { Clock } from '../../../shared/time.js';
import type { SuppressionCheck } from '../apply-records.js';
import { type AudienceSource, type AudienceTombstone, generationsOf } from '../audience-documents.js';
import { type Documents, documentId } from '../documents.js';
import type { Person, SuppressionList } from '../erasure/suppression.js';
import { changeContacts } from './changes.js';
import type { ContactDocuments } from './documents.js';
import { leaveFormer } from './former-memberships.js';
import {
  audienceToken,
  type IndexedContact,
  isTombstone,
  markOf,
  type Tombstone,
  toVersion,
} from './indexed-contact.js';

type State = IndexedContact | Tombstone;

type ContactRecords = readonly OrderedRecord<ContactRecord>[];

/** Applies stream records (contract 6.2). */
export async function upsertContacts(
  contacts: ContactDocuments,
  audiences: Pick<Documents<AudienceSource | AudienceTombstone>, 'getMany'>,
  records: ContactRecords,
  suppression: SuppressionList,
  clock: Clock,
): Promise<void> {
  const joined = joinedAudiences(records);
  if (joined.length === 0) return applyContacts(contacts, records, suppression);
  const generations = await generationsOf(audiences, joined);
  try {
    await applyContacts(contacts, withTokens(records, generations), suppression);
  } finally {
    // Either a concurrent deletion finds the members, or this read finds the deletion.
    const current = await generationsOf(audiences, joined);
    for (const { organizationId, audienceId } of joined) {
      const id = documentId(organizationId, audienceId);
      const generation = generations.get(id);
      if (current.get(id) === generation) continue;
      const token = audienceToken(audienceId, generation);
      const members = records.flatMap(({ record }) =>
        record.organization_id === organizationId && record.audience_ids?.includes(audienceId)
          ? [record.contact_id]
          : [],
      );
      await leaveFormer(contacts, organizationId, token, [...new Set(members)], clock.now());
    }
  }
}

/** The audiences that the records name, without duplicates. */
function joinedAudiences(records: ContactRecords): { organizationId: string; audienceId: string }[] {
  const joined = new Map<string, { organizationId: string; audienceId: string }>();
  for (const { record } of records) {
    const { organization_id: organizationId } = record;
    for (const audienceId of record.audience_ids ?? [])
      joined.set(documentId(organizationId, audienceId), { organizationId, audienceId });
  }
  return [...joined.values()];
}

const withTokens = (records: ContactRecords, generations: ReadonlyMap<string, number>): ContactRecords =>
  generations.size === 0
    ? records
    : records.map((ordered) => {
        const { record } = ordered;
        const audience_ids = record.audience_ids?.map((id) =>
          audienceToken(id, generations.get(documentId(record.organization_id, id))),
        );
        return audience_ids ? { ...ordered, record: { ...record, audience_ids } } : ordered;
      });

const applyContacts = (
  contacts: ContactDocuments,
  records: ContactRecords,
  suppression: SuppressionList,
): Promise<void> =>
  changeContacts(
    contacts,
    records,
    ({ record }) => record.organization_id,
    ({ record }) => record.contact_id,
    (before, ordered) => {
      const stored = applyRecord(before && toVersion(before), ordered);
      if (stored === null) return null;
      if (isDeletion(stored)) return tombstoneOf(ordered.record.organization_id, stored, ordered.acceptedAt);
      if (before === undefined || isTombstone(before)) return stored;
      const { creation, removals, updates } = before;
      return { ...stored, creation, removals, updates };
    },
    erasedScreen(suppression, ({ acceptedAt }) => acceptedAt),
  );

/**
 * Rejects changes that would store an erased person, or that would change a contact which an erasure will still remove. `timeOf` is in
 * milliseconds since the epoch.
 */
export const erasedScreen = <Change>(
  suppression: SuppressionList,
  timeOf: (change: Change) => number,
): SuppressionCheck<State, Change> => ({
  forbidden: (states) => suppression.suppressed(states, personOf),
  rejection: suppressedRecord,
  awaited: async (ids) => {
    const organizations = new Set(ids.map((id) => organizationOf(id)));
    const erasing = new Set<string>();
    for (const each of organizations) if (await suppression.isErasing(each)) erasing.add(each);
    return new Set(ids.filter((id) => erasing.has(organizationOf(id))));
  },
  removed: (stored, change) =>
    isTombstone(stored)
      ? null
      : tombstoneOf(stored.body.organization_id, deletionAt(timeOf(change), stored), timeOf(change)),
});

const organizationOf = (documentId: string): string => documentId.split('/', 1)[0] as string;

/** `id` is the id of the document. */
function personOf(id: string, states: readonly State[]): Person {
  const [organizationId = '', contactId = ''] = id.split('/');
  const identifiers = states.flatMap((state) =>
    isTombstone(state) ? [{ kind: 'id' as const, value: contactId }] : identifiersOf(state.body),
  );
  return { organizationId, identifiers: uniqueIdentifiers(identifiers) };
}

const tombstoneOf = (organizationId: string, { recordOrder }: Deletion, now: number): Tombstone => ({
  abandoned_at: now,
  record_order: recordOrder,
  ...markOf(organizationId),
});

interface Deletions {
  /**
   * If set, contacts of erased persons are left to their erasure and count as deleted. The erasure also removes other data about the
   * person.
   */
  suppression?: SuppressionList;
  /** If set, keeps contacts that are not as this import created them. */
  ofImport?: string | undefined;
  /** Serializes each deleted contact for the response. The deletion ends early if the contacts take more than `MAX_DELETED_BYTES`. */
  toJson?(contact: IndexedContact): Json<Contact>;
}

/** Resolves with the outcome for each contact, in order. `now` is in milliseconds since the epoch. */
export async function deleteContacts(
  contacts: ContactDocuments,
  organizationId: string,
  contactIds: readonly string[],
  now: number,
  { suppression, ofImport, toJson }: Deletions = {},
): Promise<OneDeletion[]> {
  const deletions = new Map<string, OneDeletion>();
  /** Sizes by contact, so that a retried contact counts once. */
  const sizes = new Map<string, number>();
  const takesRoom = (id: string, bytes: number): boolean => {
    sizes.delete(id);
    const taken = [...sizes.values()].reduce((sum, each) => sum + each, 0);
    if (sizes.size > 0 && taken + bytes > MAX_DELETED_BYTES) return false;
    sizes.set(id, bytes);
    return true;
  };
  try {
    await changeContacts(
      contacts,
      contactIds,
      () => organizationId,
      (id) => id,
      (before, id) => {
        if (before === undefined || isTombstone(before)) return null;
        if (ofImport !== undefined && !isAsImported(before, ofImport)) {
          deletions.set(id, { id, kind: 'kept' });
          return null;
        }
        const contact = toJson?.(before);
        if (contact !== undefined && !takesRoom(id, Buffer.byteLength(contact))) {
          deletions.set(id, { id, kind: 'no_room' });
          return null;
        }
        deletions.set(id, { id, kind: 'deleted', contact });
        const deletion = ofImport === undefined ? deletionAt(now, before) : deletionOfImport(now, before);
        return tombstoneOf(organizationId, deletion, now);
      },
      suppression && erasedScreen<string>(suppression, () => now),
    );
  } catch (error) {
    if (!(error instanceof PartialWriteError)) throw error;
    // Each of these contacts belongs to an erased person.
    for (const index of error.rejected.keys()) {
      const id = contactIds[index] as string;
      deletions.set(id, { id, kind: 'deleted' });
    }
  }
  return contactIds.map((id) => deletions.get(id) ?? { id, kind: 'missing' });
}
