import { contactDomain } from '../../../contacts/contact-domain.js';
import { contactJson } from '../../../contacts/contact-json.js';
import {
  type AddOutcome,
  type CreateContact,
  type CreateOutcome,
  type DeleteContacts,
  type DeletionResult,
  deletionResult,
  MAX_DELETED_BYTES,
  type Membership,
  type MembershipChange,
  type MembershipChangeOutcome,
  type OneDeletion,
  type RemoveOutcome,
  type UpdateContact,
  type UpdateOutcome,
} from '../../../contacts/contact-store.js';
import { type CreationFacts, checkCredits, decideCreation } from '../../../contacts/creation.js';
import { addedKeys, type DuplicateKey, duplicateKeys, MAX_DUPLICATES } from '../../../contacts/duplicates.js';
import type { ContactRecord } from '../../../contacts/schema.js';
import { searchableValues, sortValues } from '../../../contacts/searchable.js';
import {
  applyRecord,
  createdContact,
  importOf,
  isAsImported,
  joinedAudience,
  type StoredContact,
  toContact,
  withMembership,
  withoutAudience,
} from '../../../contacts/stored-contact.js';
import { identifiersOf, suppressedRecord } from '../../../contacts/suppression.js';
import { applyUpdate, mergeDuplicate } from '../../../contacts/update.js';
import {
  type Deletion,
  deletionAt,
  deletionOfImport,
  isDeletion,
  type OrderedRecord,
} from '../../../shared/record-order.js';
import { sql } from '../../../shared/sql.js';
import { hasAudience } from '../audiences.js';
import type { Connection } from '../connection.js';
import { addCredits, readCredits } from '../credits.js';
import { Suppression } from '../erasure/suppression.js';
import { findOrganizationKey } from '../organizations.js';
import type { RowId } from '../row-ids.js';
import { TermEncoder } from '../text/term-encoder.js';
import type { IndexChanges } from '../text/text-index.js';
import { forEachStepped, oneStep, type SteppedWork, steppedFrom } from '../writes/stepped-work.js';
import { type BatchResult, type IsTimeUp, writeBatch } from '../writes/write-batch.js';
import type { WriteSession } from '../writes/write-session.js';
import { forgetAbsence, noteAbsence } from './absences.js';
import { CONTACT_COLUMNS, contactColumns } from './indexed-contact.js';
import { type ContactRow, readContactRow, readDeletion, rowsWithKeys } from './rows.js';

/** Applies stream records (contract 6.2) until time is up. */
export function upsertContacts(
  session: WriteSession,
  records: readonly OrderedRecord<ContactRecord>[],
  isTimeUp: IsTimeUp,
): BatchResult {
  const suppression = new Suppression(session.connection);
  return writeBatch(session, 'contacts', records, isTimeUp, (record) =>
    upsertContact(session, suppression, record),
  );
}

const indexOf = (session: WriteSession): IndexChanges =>
  session.indexChanges('contact_terms', CONTACT_COLUMNS);

/** Throws `RecordRejectedError`. */
function upsertContact(
  session: WriteSession,
  suppression: Suppression,
  ordered: OrderedRecord<ContactRecord>,
): void {
  const { connection } = session;
  const { organization_id: organizationId, contact_id: contactId } = ordered.record;
  const organization = session.organizationKey(organizationId);
  const before = readContactRow(connection, organization, contactId);
  const deletion = before ? undefined : readDeletion(connection, organization, contactId);
  const stored = applyRecord(before ?? deletion, ordered);
  if (stored === null) return;
  const identifiers = () => [
    // If a record removed the address of an erased person, the running erasure would not find the contact.
    ...(before ? identifiersOf(before.body) : []),
    ...(isDeletion(stored) ? [{ kind: 'id' as const, value: contactId }] : identifiersOf(stored.body)),
  ];
  if (suppression.includes(organizationId, identifiers)) throw suppressedRecord();
  if (isDeletion(stored)) {
    if (before) deleteRow(session, organization, before);
    writeDeletion(connection, organization, contactId, stored);
    if (before) suppression.noteDeleted(organizationId, organization, before.body);
    return;
  }
  if (deletion) {
    forgetDeletion(connection, organization, contactId);
    forgetAbsence(connection, organization, contactId);
  }
  if (!before) {
    insertContact(session, organization, stored);
    return;
  }
  const moved = before.createdMs !== stored.createdMs;
  const after = {
    ...stored,
    rowId: moved ? session.newRowId('contact_terms', stored.createdMs) : before.rowId,
    namesFormerAudience: false,
  };
  updateRow(session, organization, before, after);
}

/** Deletes contacts. The result has the ids of contacts that existed. `now` is in milliseconds since the epoch. */
export function deleteContacts(
  session: WriteSession,
  command: DeleteContacts,
  now: number,
): SteppedWork<DeletionResult> {
  const { contactIds } = command;
  type State = { deletions: readonly OneDeletion[]; bytes: number };
  return steppedFrom<State, DeletionResult>(
    { deletions: [], bytes: 0 },
    ({ deletions, bytes }) => {
      const room = bytes === 0 ? Number.POSITIVE_INFINITY : MAX_DELETED_BYTES - bytes;
      const one = deleteContact(session, command, contactIds[deletions.length] as string, room, now);
      const { contact = '' } = one as { contact?: string };
      return { deletions: [...deletions, one], bytes: bytes + Buffer.byteLength(contact) };
    },
    ({ deletions }) => (deletions.length === contactIds.length ? deletionResult(deletions) : undefined),
  );
}

/** `room` is the number of bytes that the contact may take in the result. */
function deleteContact(
  session: WriteSession,
  { organizationId, returnsContacts, ofImport }: DeleteContacts,
  id: string,
  room: number,
  now: number,
): OneDeletion {
  const { connection } = session;
  const organization = findOrganizationKey(connection, organizationId);
  const row = organization === undefined ? undefined : readContactRow(connection, organization, id);
  if (organization === undefined || !row) return { id, kind: 'missing' };
  if (ofImport !== undefined && !isAsImported(row, ofImport)) return { id, kind: 'kept' };
  // A running erasure removes the contact itself, together with the other data about the person.
  const suppression = new Suppression(connection);
  if (suppression.includes(organizationId, () => identifiersOf(row.body))) return { id, kind: 'deleted' };
  const contact = returnsContacts ? contactJson(row) : undefined;
  if (contact !== undefined && Buffer.byteLength(contact) > room) return { id, kind: 'no_room' };
  deleteRow(session, organization, row);
  session.applyManyIndexChanges();
  const deletion = ofImport === undefined ? deletionAt(now, row) : deletionOfImport(now, row);
  writeDeletion(connection, organization, id, deletion);
  suppression.noteDeleted(organizationId, organization, row.body);
  return { id, kind: 'deleted', contact };
}

/** Deletes a contact with everything derived from it, so that no row names the contact any more. */
export function eraseContact(session: WriteSession, organization: number, row: ContactRow): void {
  deleteRow(session, organization, row);
  session.applyIndexChanges();
  forgetDeletion(session.connection, organization, row.body.contact_id);
}

function deleteRow(session: WriteSession, organization: number, row: ContactRow): void {
  const { body } = row;
  noteAbsence(session, organization, body.contact_id);
  session.connection.run(
    sql`DELETE FROM contacts WHERE organization = ? AND id = ?`,
    organization,
    body.contact_id,
  );
  for (const id of row.audienceIds) deleteMembership(session, organization, id, row);
  const text = new TermEncoder(organization);
  indexOf(session).remove(row.rowId, contactColumns(text, body));
  session.count('contacts', organization, -1);
  session.forgetWords('contact_terms', organization, text.takeWords());
}

function writeDeletion(connection: Connection, organization: number, id: string, deletion: Deletion): void {
  connection.run(
    sql`INSERT OR REPLACE INTO deleted_contacts (organization, id, record_order) VALUES (?, ?, ?)`,
    organization,
    id,
    deletion.recordOrder,
  );
}

/** Returns the number of deletions that were forgotten. */
export function forgetDeletion(connection: Connection, organization: number, id: string): number {
  connection.run(sql`DELETE FROM deleted_identifiers WHERE organization = ? AND id = ?`, organization, id);
  return connection.run(
    sql`DELETE FROM deleted_contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
}

/** Writes the row of a new contact, its memberships, its words and the index. */
function insertContact(session: WriteSession, organization: number, stored: StoredContact): void {
  const { body, createdMs, updatedMs, recordOrder, audienceIds } = stored;
  const text = new TermEncoder(organization);
  const values = searchableValues(body);
  const sorted = sortValues(body);
  const rowId = session.newRowId('contact_terms', createdMs);
  session.connection.execute(
    sql`INSERT INTO contacts
       (organization, id, position, created_ms, updated_ms, record_order, body, change, country, last_name, company_name, domain,
        import_id, imported_ms, import_changed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    organization,
    body.id,
    rowId,
    createdMs,
    updatedMs,
    recordOrder,
    contactJson(stored),
    session.nextChange(),
    values.country,
    sorted.last_name,
    sorted.company_name,
    contactDomain(body),
    ...importValues(stored),
  );
  indexOf(session).add(rowId, contactColumns(text, body, values));
  session.addWords('contact_terms', organization, text.takeWords());
  session.count('contacts', organization);
  for (const id of audienceIds) insertMembership(session, organization, id, rowId);
}

/** Values of `import_id`, `imported_ms` and `import_changed`. */
function importValues(stored: StoredContact): (string | number | null)[] {
  const found = importOf(stored);
  return found === null ? [null, null, null] : [found.id, found.acceptedMs, Number(found.isChanged)];
}

/** Writes the row, its memberships and, if words changed, the index. */
export function updateRow(
  session: WriteSession,
  organization: number,
  before: ContactRow,
  after: ContactRow,
): void {
  const { connection } = session;
  const text = new TermEncoder(organization);
  const values = searchableValues(after.body);
  const sorted = sortValues(after.body);
  const json = contactJson(after);
  connection.run(
    sql`UPDATE contacts SET position = ?, created_ms = ?, updated_ms = ?, record_order = ?,
       change = CASE body WHEN ? THEN change ELSE ? END, body = ?, country = ?,
       last_name = ?, company_name = ?, domain = ?, import_id = ?, imported_ms = ?, import_changed = ?
      WHERE organization = ? AND id = ?`,
    after.rowId,
    after.createdMs,
    after.updatedMs,
    after.recordOrder,
    // Readers left the former audiences out of the stored text, so an equal text may be a change.
    before.namesFormerAudience ? null : json,
    session.nextChange(),
    json,
    values.country,
    sorted.last_name,
    sorted.company_name,
    contactDomain(after.body),
    ...importValues(after),
    organization,
    after.body.id,
  );
  const moved = before.rowId !== after.rowId;
  const columns = contactColumns(text, after.body, values);
  const words = text.takeWords();
  const columnsBefore = contactColumns(text, before.body);
  const wordsBefore = text.takeWords();
  if (moved) {
    indexOf(session).remove(before.rowId, columnsBefore);
    indexOf(session).add(after.rowId, columns);
    for (const id of before.audienceIds) deleteMembership(session, organization, id, before);
  } else if (columns.join('\n') !== columnsBefore.join('\n')) {
    indexOf(session).replace(after.rowId, columnsBefore, columns);
  }
  const held = new Set(moved ? [] : before.audienceIds);
  for (const id of after.audienceIds) {
    if (!held.has(id)) insertMembership(session, organization, id, after.rowId);
  }
  session.addWords('contact_terms', organization, words);
  const lost = [...wordsBefore].filter((word) => !words.has(word));
  session.forgetWords('contact_terms', organization, lost);
}

function insertMembership(
  session: WriteSession,
  organization: number,
  audienceId: string,
  rowId: RowId,
): void {
  session.connection.run(
    sql`INSERT INTO memberships (audience, position) VALUES (?, ?) ON CONFLICT DO NOTHING`,
    session.audienceKey(organization, audienceId),
    rowId,
  );
}

function deleteMembership(
  session: WriteSession,
  organization: number,
  audienceId: string,
  row: ContactRow,
): void {
  session.connection.run(
    sql`DELETE FROM memberships WHERE audience = ? AND position = ?`,
    session.audienceKey(organization, audienceId),
    row.rowId,
  );
}

export function createContact(session: WriteSession, command: CreateContact, now: number): CreateOutcome {
  const { contact, audienceId, requiredCredits, dryRun } = command;
  const { connection } = session;
  const organizationId = contact.organization_id;
  const found = organizationOf(session, organizationId, audienceId);
  // Defined, because this is called only after the audience, and so the organization, was found.
  const organization = found as number;
  const created = createdContact(contact, audienceId);
  let duplicates: ContactRow[] = [];
  const lookUp = (fact: keyof CreationFacts): CreationFacts => {
    switch (fact) {
      case 'hasAudience':
        return { hasAudience: found !== undefined };
      case 'isSuppressed': {
        const suppression = new Suppression(connection);
        return { isSuppressed: suppression.includes(organizationId, () => identifiersOf(created.body)) };
      }
      case 'duplicates':
        duplicates = findDuplicates(session, organization, duplicateKeys(created.body));
        return { duplicates };
      case 'joined': {
        const oldest = duplicates[0] as ContactRow;
        const joined = joinedAudience(oldest, audienceId, now);
        if (joined !== null && !dryRun) writeJoined(session, organization, oldest, joined, audienceId);
        return { joined };
      }
      case 'merged': {
        const [before] = duplicates as [ContactRow];
        const merged = mergeDuplicate(before, created, now);
        if (merged.kind !== 'changed') return { merged };
        const { after } = merged;
        // If an update removed the address of an erased person, the running erasure would not find the contact.
        const identifiers = () => [...identifiersOf(before.body), ...identifiersOf(after.body)];
        if (new Suppression(connection).includes(organizationId, identifiers))
          return { merged: { kind: 'contact_suppressed' } };
        if (!dryRun) updateRow(session, organization, before, after);
        return { merged };
      }
      case 'balance':
        return { balance: readCredits(connection, organizationId) };
      case 'credits':
        return { credits: checkCredits(readCredits(connection, organizationId), requiredCredits) };
      case 'created':
        if (readContactRow(connection, organization, contact.contact_id)) return { created: null };
        if (!dryRun) {
          addCredits(connection, organizationId, -requiredCredits);
          insertContact(session, organization, created);
        }
        return { created };
    }
  };
  let facts: CreationFacts = {};
  for (;;) {
    const decision = decideCreation(command, facts);
    if (typeof decision === 'object') return decision;
    facts = { ...facts, ...lookUp(decision) };
  }
}

/** The key of an organization, if it has the audience. */
function organizationOf(
  session: WriteSession,
  organizationId: string,
  audienceId: string,
): number | undefined {
  const organization = findOrganizationKey(session.connection, organizationId);
  if (organization === undefined) return undefined;
  return hasAudience(session.connection, organization, audienceId) ? organization : undefined;
}

function findDuplicates(
  session: WriteSession,
  organization: number,
  keys: readonly DuplicateKey[],
): ContactRow[] {
  session.applyIndexChanges();
  return rowsWithKeys(session.connection, organization, keys, MAX_DUPLICATES);
}

export function updateContact(session: WriteSession, command: UpdateContact, now: number): UpdateOutcome {
  const { connection } = session;
  const { organizationId, contactId } = command;
  const found = findOrganizationKey(connection, organizationId);
  const row = found === undefined ? undefined : readContactRow(connection, found, contactId);
  const update = applyUpdate(row, command, now);
  if (update.kind !== 'changed') return update;
  const { before, after } = update;
  const organization = found as number;
  const identifiers = () => [...identifiersOf(before.body), ...identifiersOf(after.body)];
  if (new Suppression(connection).includes(organizationId, identifiers))
    return { kind: 'contact_suppressed' };
  const [other] = findDuplicates(session, organization, addedKeys(before.body, after.body));
  if (other) return { kind: 'contact_exists', contactId: other.body.contact_id };
  updateRow(session, organization, before, after);
  return { kind: 'updated', contact: toContact(after) };
}

export function addMembership(session: WriteSession, membership: Membership, now: number): AddOutcome {
  const { organizationId, audienceId, contactId } = membership;
  const organization = organizationOf(session, organizationId, audienceId);
  if (organization === undefined) return { kind: 'audience_not_found' };
  const row = readContactRow(session.connection, organization, contactId);
  if (!row) return { kind: 'contact_not_found' };
  const joined = joinedAudience(row, audienceId, now);
  if (joined === null) return { kind: 'too_many_audiences' };
  writeJoined(session, organization, row, joined, audienceId);
  return { kind: 'added', contact: toContact(joined) };
}

export function removeMembership(session: WriteSession, membership: Membership, now: number): RemoveOutcome {
  const { organizationId, audienceId, contactId } = membership;
  const organization = organizationOf(session, organizationId, audienceId);
  if (organization === undefined) return { kind: 'audience_not_found' };
  const row = readContactRow(session.connection, organization, contactId);
  if (!row?.audienceIds.includes(audienceId)) return { kind: 'removed', removed: false };
  writeLeft(session, organization, row, audienceId, now);
  return { kind: 'removed', removed: true };
}

export function changeMemberships(
  session: WriteSession,
  change: MembershipChange,
  now: number,
): SteppedWork<MembershipChangeOutcome> {
  const { organizationId, audienceId, contactIds } = change;
  if (contactIds.length === 0) {
    return oneStep(() =>
      organizationOf(session, organizationId, audienceId) === undefined
        ? { kind: 'audience_not_found' }
        : membershipOutcome([]),
    );
  }
  return forEachStepped(contactIds, (id) => changeMembership(session, change, id, now), membershipOutcome);
}

type OneChange = { id: string; kind: 'changed' | 'unchanged' | 'notFound' | 'full' | 'audience_not_found' };

function changeMembership(
  session: WriteSession,
  change: MembershipChange,
  id: string,
  now: number,
): OneChange {
  const { organizationId, audienceId } = change;
  // Another request may delete the audience between two steps.
  const organization = organizationOf(session, organizationId, audienceId);
  if (organization === undefined) return { id, kind: 'audience_not_found' };
  const row = readContactRow(session.connection, organization, id);
  const after = row && withMembership(row, change, now);
  if (after === undefined) return { id, kind: 'notFound' };
  if (after === null) return { id, kind: 'full' };
  if (after === row) return { id, kind: 'unchanged' };
  if (change.change === 'join') insertMembership(session, organization, audienceId, after.rowId);
  else deleteMembership(session, organization, audienceId, after);
  writeContactBody(session, organization, after);
  return { id, kind: 'changed' };
}

function membershipOutcome(changes: readonly OneChange[]): MembershipChangeOutcome {
  if (changes.some(({ kind }) => kind === 'audience_not_found')) return { kind: 'audience_not_found' };
  const idsOf = (wanted: OneChange['kind']) =>
    changes.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  return {
    kind: 'changed',
    changed: idsOf('changed'),
    unchanged: idsOf('unchanged').length,
    notFound: idsOf('notFound'),
    full: idsOf('full'),
  };
}

function writeLeft(
  session: WriteSession,
  organization: number,
  member: ContactRow,
  audienceId: string,
  now: number,
): void {
  deleteMembership(session, organization, audienceId, member);
  writeContactBody(session, organization, withoutAudience(member, audienceId, now));
}

function writeJoined(
  session: WriteSession,
  organization: number,
  before: ContactRow,
  joined: ContactRow,
  audienceId: string,
): void {
  if (joined === before) return;
  insertMembership(session, organization, audienceId, joined.rowId);
  writeContactBody(session, organization, joined);
}

/** Writes a contact of which only memberships changed. */
export function writeContactBody(session: WriteSession, organization: number, row: ContactRow): void {
  session.connection.run(
    sql`UPDATE contacts SET body = ?, change = ?, updated_ms = ?, import_id = ?, imported_ms = ?, import_changed = ?
      WHERE organization = ? AND id = ?`,
    contactJson(row),
    session.nextChange(),
    row.updatedMs,
    ...importValues(row),
    organization,
    row.body.id,
  );
}
