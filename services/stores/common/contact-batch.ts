import type { ContactBatch } from '../../contacts/contact-store.js';
import type { Contact } from '../../contacts/schema.js';
import type { Json } from '../../shared/json.js';
import { PageBuilder } from './page-builder.js';

/** Contacts, or hits, that are read before it is known how large they are. */
export const FIRST_ITEMS = 101;

/**
 * Contacts by distinct ids. `read` resolves with null for each that does not exist. What the first contacts take tells how many more are
 * worth reading: a thousand of the largest would be a gigabyte, of which a page takes 4 MiB.
 */
export async function readContactBatch(
  contactIds: readonly string[],
  read: (ids: readonly string[]) => Promise<readonly (Json<Contact> | null)[]>,
): Promise<{ result: ContactBatch; bytes: number }> {
  const batch = new PageBuilder<Json<Contact>, Contact>({
    limit: contactIds.length,
    reservedBytes: JSON.stringify(contactIds).length,
    toJson: (contact) => contact,
  });
  const missing: string[] = [];
  let end = 0;
  let isFull = false;
  while (end < contactIds.length && !isFull) {
    const size = batch.items.length === 0 ? FIRST_ITEMS : batch.remainingItems;
    const found = await read(contactIds.slice(end, end + size));
    for (const contact of found) {
      if (contact === null) missing.push(contactIds[end] as string);
      else if (!batch.add(contact)) {
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
