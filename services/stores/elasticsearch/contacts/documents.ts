/** Functions that reads and writes of contacts share. */
import { type DuplicateKey, hasKey } from '../../../contacts/duplicates.js';
import type { StoredContact } from '../../../contacts/stored-contact.js';
import { identifiersOf, uniqueIdentifiers } from '../../../contacts/suppression.js';
import type { Clock } from '../../../shared/time.js';
import type { AudienceSource, AudienceTombstone } from '../audience-documents.js';
import type { Ledger } from '../credits.js';
import { type Documents, documentId, type VersionedDocument } from '../documents.js';
import type { SuppressionList } from '../erasure/suppression.js';
import { retryWithBackoff } from '../retry.js';
import {
  type ContactSource,
  type IndexedContact,
  isTombstone,
  parseContactSource,
  type Tombstone,
} from './mapping.js';
import { duplicateQuery } from './search.js';

export type ContactDocuments = Documents<ContactSource | Tombstone>;
export type VersionedContact = VersionedDocument<ContactSource>;

export interface WriteStores {
  contacts: ContactDocuments;
  audiences: Documents<AudienceSource | AudienceTombstone>;
  ledger: Ledger;
  suppression: SuppressionList;
  clock: Clock;
}

/** Removals and updates that a contact remembers, each. */
export const MAX_CHANGE_IDS = 16;

export async function findContact(
  contacts: ContactDocuments,
  organizationId: string,
  contactId: string,
): Promise<VersionedContact | null> {
  const found = await contacts.get(documentId(organizationId, contactId), organizationId);
  return found && !isTombstone(found.source) ? (found as VersionedContact) : null;
}

/** Contacts that have one of the duplicate keys, the oldest first. */
export async function findDuplicates(
  contacts: ContactDocuments,
  organizationId: string,
  keys: readonly DuplicateKey[],
): Promise<IndexedContact[]> {
  if (keys.length === 0) return [];
  const { hits } = await contacts.search(duplicateQuery(organizationId, keys));
  return hits.hits
    .map(({ _source }) => parseContactSource(_source as ContactSource))
    .filter(({ body }) => hasKey(body, keys));
}

export const lockOf = ({ kind, value }: DuplicateKey): string => `${kind} ${value}`;

/** Whether one of the states of a contact has an identifier of an erased person. */
export const isSuppressed = (
  { suppression }: Pick<WriteStores, 'suppression'>,
  ...states: readonly [StoredContact, ...StoredContact[]]
): Promise<boolean> => {
  const identifiers = uniqueIdentifiers(states.flatMap(({ body }) => identifiersOf(body)));
  return suppression.includes({ organizationId: states[0].body.organization_id, identifiers });
};

/**
 * The contact that a creation wrote; null when it wrote none and no longer can, because a tombstone in its place makes a late
 * write conflict. `now` is in milliseconds since the epoch.
 */
export function resolveCreation(
  contacts: ContactDocuments,
  organizationId: string,
  contactId: string,
  now: number,
): Promise<VersionedContact | null> {
  const id = documentId(organizationId, contactId);
  const tombstone: Tombstone = { abandoned_at: now };
  return retryWithBackoff(async () => {
    const found = await contacts.get(id, organizationId);
    if (found) return isTombstone(found.source) ? null : (found as VersionedContact);
    const options = { routing: organizationId, refresh: false } as const;
    return (await contacts.create(id, tombstone, options)) ? null : undefined;
  });
}
