import type { ContactBatch } from '../../contacts/contact-store.js';
import type { Contact } from '../../contacts/schema.js';
import type { Json } from '../../shared/json.js';
import { PageBuilder } from './page-builder.js';

/** Number of contacts or hits that are read before their size is known. */
export const FIRST_ITEMS = 101;

/**
 * Reads contacts by distinct ids. `read` resolves with null for an id without a contact. The size of the first contacts tells how many
 * further contacts to read: a thousand of the largest contacts would be a gigabyte, but a page takes 4 MiB.
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
