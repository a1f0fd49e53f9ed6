/** Functions shared by reads and writes of contacts. */
import {
  type DuplicateKey,
  duplicateKeys,
  hasKey,
  type KnownPeople,
  MAX_DUPLICATE_CANDIDATES,
  MAX_HOLDERS,
  type PeopleQuery,
} from '../../../contacts/duplicates.js';
import type { StoredContact } from '../../../contacts/stored-contact.js';
import { identifiersOf, uniqueIdentifiers } from '../../../contacts/suppression.js';
import type { Clock } from '../../../shared/time.js';
import type { AudienceSource, AudienceTombstone } from '../audience-documents.js';
import type { CreditAccounts } from '../credits.js';
import { type Documents, documentId, type VersionedDocument } from '../documents.js';
import type { SuppressionList } from '../erasure/suppression.js';
import { retryWithBackoff } from '../retry.js';
import {
  type ContactSource,
  type IndexedContact,
  isTombstone,
  parseContactSource,
  type Tombstone,
} from './indexed-contact.js';
import { duplicateQuery } from './search.js';

export type ContactDocuments = Documents<ContactSource | Tombstone>;
export type VersionedContact = VersionedDocument<ContactSource>;

export interface WriteStores {
  contacts: ContactDocuments;
  audiences: Documents<AudienceSource | AudienceTombstone>;
  creditAccounts: CreditAccounts;
  suppression: SuppressionList;
  clock: Clock;
}

/** Maximum number of removals, and of updates, that a contact remembers. */
export const MAX_CHANGE_IDS = 16;

export async function findContact(
  contacts: ContactDocuments,
  organizationId: string,
  contactId: string,
): Promise<VersionedContact | null> {
  const found = await contacts.get(documentId(organizationId, contactId), organizationId);
  return found && !isTombstone(found.source) ? (found as VersionedContact) : null;
}

/** Contacts that have one of the duplicate keys, oldest first. */
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

/**
 * Maximum keys of one search, and maximum contacts that the search may return. If a search finds more contacts, each half of the keys is
 * searched separately.
 */
const KEYS_PER_SEARCH = { keys: 128, contacts: 256 };

export async function findPeople(
  contacts: ContactDocuments,
  { organizationId, contactIds, keys }: PeopleQuery,
  signal: AbortSignal,
): Promise<KnownPeople> {
  const wanted = contactIds.map((id) => ({ id: documentId(organizationId, id), routing: organizationId }));
  const found = await contacts.getMany(wanted, signal);
  const holders: string[][] = [];
  for (let start = 0; start < keys.length; start += KEYS_PER_SEARCH.keys) {
    const part = keys.slice(start, start + KEYS_PER_SEARCH.keys);
    holders.push(...(await findHolders(contacts, organizationId, part, signal)));
  }
  return {
    contactIds: contactIds.filter((_, index) => {
      const source = found.get((wanted[index] as { id: string }).id)?.source;
      return source && !isTombstone(source);
    }),
    holders,
  };
}

async function findHolders(
  contacts: ContactDocuments,
  organizationId: string,
  keys: readonly DuplicateKey[],
  signal: AbortSignal,
): Promise<string[][]> {
  const size = keys.length === 1 ? MAX_DUPLICATE_CANDIDATES : KEYS_PER_SEARCH.contacts;
  const { hits } = await contacts.search(duplicateQuery(organizationId, keys, size), signal);
  if (keys.length > 1 && hits.hits.length === size) {
    const half = Math.ceil(keys.length / 2);
    return [
      ...(await findHolders(contacts, organizationId, keys.slice(0, half), signal)),
      ...(await findHolders(contacts, organizationId, keys.slice(half), signal)),
    ];
  }
  const bodies = hits.hits.map(({ _source }) => parseContactSource(_source as ContactSource).body);
  const holdersOf = new Map<string, string[]>(keys.map((key) => [lockOf(key), []]));
  for (const body of bodies) {
    for (const key of new Set(duplicateKeys(body).map(lockOf))) holdersOf.get(key)?.push(body.contact_id);
  }
  return keys.map((key) => (holdersOf.get(lockOf(key)) as string[]).slice(0, MAX_HOLDERS));
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
 * The contact that a creation wrote; null if the creation wrote no contact and no longer can, because a tombstone in its place makes a late
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
