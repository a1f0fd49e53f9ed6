import { type Documents, documentId, type VersionedDocument } from '../documents.js';
import { retryWithBackoff } from '../retry.js';
import { type ContactSource, isTombstone, type Tombstone } from './mapping.js';

export type ContactDocuments = Documents<ContactSource | Tombstone>;
export type VersionedContact = VersionedDocument<ContactSource>;

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
