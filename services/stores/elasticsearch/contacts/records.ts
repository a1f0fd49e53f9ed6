/** Stream records and deletions. */
import type { ContactRecord } from '../../../contacts/schema.js';
import { applyRecord } from '../../../contacts/stored-contact.js';
import { identifiersOf, suppressedRecord } from '../../../contacts/suppression.js';
import { type Deletion, deletionAt, isDeletion, type OrderedRecord } from '../../../shared/record-order.js';
import { applyRecords, type Screen } from '../apply-records.js';
import { documentId } from '../documents.js';
import type { Person, SuppressionList } from '../erasure/suppression.js';
import type { ContactDocuments } from './documents.js';
import {
  type ContactSource,
  contactDocument,
  type IndexedContact,
  isTombstone,
  parseSource,
  type Tombstone,
  toVersion,
} from './mapping.js';

type State = IndexedContact | Tombstone;

/** As `applyRecords`; `idOf` gives the id of a contact of the organization that `organizationOf` gives. */
export const changeContacts = <Change>(
  contacts: ContactDocuments,
  changes: readonly Change[],
  organizationOf: (change: Change) => string,
  idOf: (change: Change) => string,
  apply: (before: State | undefined, change: Change) => State | null,
  screen?: Screen<State, Change>,
): Promise<void> =>
  applyRecords<ContactSource | Tombstone, State, Change>(contacts, changes, {
    idOf: (change) => documentId(organizationOf(change), idOf(change)),
    routingOf: organizationOf,
    fromSource: parseSource,
    apply,
    toDocument: contactDocument,
    screen,
  });

/** Applies stream records (contract 6.2). */
export const upsertContacts = (
  contacts: ContactDocuments,
  records: readonly OrderedRecord<ContactRecord>[],
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
      if (isDeletion(stored)) return tombstoneOf(stored, ordered.acceptedAt);
      if (before === undefined || isTombstone(before)) return stored;
      const { creation, removals, updates } = before;
      return { ...stored, creation, removals, updates };
    },
    erasedScreen(suppression, ({ acceptedAt }) => acceptedAt),
  );

/** Rejects what would store an erased person. `timeOf` in milliseconds since the epoch. */
export const erasedScreen = <Change>(
  suppression: SuppressionList,
  timeOf: (change: Change) => number,
): Screen<State, Change> => ({
  forbidden: (states) => suppression.suppressed(states, personOf),
  rejection: suppressedRecord,
  removed: (stored, change) =>
    isTombstone(stored) ? null : tombstoneOf(deletionAt(timeOf(change), stored), timeOf(change)),
});

/** `id` is that of the document. */
function personOf(id: string, state: State): Person {
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
  await changeContacts(
    contacts,
    contactIds,
    () => organizationId,
    (id) => id,
    (before, id) => {
      if (before === undefined || isTombstone(before)) return null;
      deleted.add(id);
      return tombstoneOf(deletionAt(now, before), now);
    },
  );
  return deleted;
}
