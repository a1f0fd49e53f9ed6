import type { ContactBatch } from '../../../contacts/contact-store.js';
import type { Contact } from '../../../contacts/schema.js';
import { PageBuilder } from '../../common/page-builder.js';
import { type Documents, documentId } from '../documents.js';
import { FIRST_HITS } from '../pages.js';
import { type ContactSource, isTombstone, type Tombstone } from './mapping.js';

/** Contacts by distinct ids. The size of the first documents decides how many more are fetched at once. */
export async function getContactBatch(
  documents: Documents<ContactSource | Tombstone>,
  organizationId: string,
  contactIds: readonly string[],
  signal?: AbortSignal,
): Promise<{ result: ContactBatch; bytes: number }> {
  const batch = new PageBuilder<ContactSource, Contact>({
    limit: contactIds.length,
    reservedBytes: JSON.stringify(contactIds).length,
    toJson: ({ contact }) => contact,
  });
  const missing: string[] = [];
  let end = 0;
  let isFull = false;
  while (end < contactIds.length && !isFull) {
    const size = batch.items.length === 0 ? FIRST_HITS : batch.remainingItems;
    const ids = contactIds.slice(end, end + size);
    const wanted = ids.map((id) => ({ id: documentId(organizationId, id), routing: organizationId }));
    const found = await documents.getMany(wanted, signal);
    for (const id of ids) {
      const source = found.get(documentId(organizationId, id))?.source;
      if (!source || isTombstone(source)) missing.push(id);
      else if (!batch.add(source)) {
        isFull = true;
        break;
      }
      end++;
    }
  }
  return {
    result: { contacts: batch.items, missing, notReturned: contactIds.slice(end) },
    bytes: batch.bytes,
  };
}
