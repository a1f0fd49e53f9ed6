/** The contacts that a request means by id, email or profile address. */
import { invalid } from '../http/problems.js';
import type { SortKey } from '../search/query.js';
import type { Cancellable } from '../shared/async.js';
import { fromJson } from '../shared/json.js';
import type { ContactStore } from './contact-store.js';
import type { Contact } from './schema.js';
import { toFilters } from './search.js';

/** Exactly one is given. */
export interface PersonRequest {
  contact_id?: string | null;
  contact_ids?: readonly string[] | null;
  email?: string | null;
  network_a_url?: string | null;
}

const CONTACTS_PER_PAGE = 1000;

/** Throws 422 unless exactly one of the fields is given. */
export function requireOnePerson(body: PersonRequest, fields: readonly (keyof PersonRequest)[]): void {
  if (fields.filter((field) => body[field] !== undefined && body[field] !== null).length === 1) return;
  throw invalid({
    pointer: `/${fields[0]}`,
    code: 'exactly_one_of',
    detail: `Exactly one of ${fields.slice(0, -1).join(', ')} and ${fields.at(-1)} must be given.`,
  });
}

/** Ids of all contacts with the email or profile address. Throws 422 for an address without a letter or digit. */
export async function findPerson(
  store: Pick<ContactStore, 'searchContacts'>,
  organizationId: string,
  { email, network_a_url }: PersonRequest,
  request?: Cancellable,
): Promise<string[]> {
  const filters = toFilters({ email, network_a_url });
  const ids: string[] = [];
  let after: SortKey | undefined;
  do {
    const search = { organizationId, filters, limit: CONTACTS_PER_PAGE, after };
    const page = await store.searchContacts(search, request);
    for (const contact of page.items) ids.push((fromJson(contact) as Contact).contact_id);
    after = page.next ?? undefined;
  } while (after);
  return ids;
}
