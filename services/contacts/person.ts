/** Finds the contacts that a request names by id, email or profile address. */
import { invalid } from '../http/problems.js';
import type { Cancellable } from '../shared/async.js';
import type { FieldError } from '../shared/validation.js';
import type { ContactStore } from './contact-store.js';
import { toFilters } from './search.js';

/** Names a person by exactly one of these fields. */
export interface PersonRequest {
  contact_id?: string | null;
  contact_ids?: readonly string[] | null;
  email?: string | null;
  network_a_url?: string | null;
}

/** Maximum number of contacts with an address. More contacts are not one person, and one request would delete or erase all of them. */
const MAX_CONTACTS = 1000;

/** A rule of requests: exactly one of the fields is given. */
export const exactlyOneOf =
  (...fields: string[]) =>
  (_: unknown, sent: Readonly<Record<string, unknown>>): FieldError[] => {
    if (fields.filter((field) => sent[field] !== undefined).length === 1) return [];
    const detail = `Exactly one of ${fields.slice(0, -1).join(', ')} and ${fields.at(-1)} must be given.`;
    return [{ pointer: `/${fields[0]}`, code: 'exactly_one_of', detail }];
  };

/**
 * Ids of all contacts with the email or profile address. Throws 422 for an address without a letter or digit, or for an address of over 1
 * 000 contacts.
 */
export async function findPerson(
  store: Pick<ContactStore, 'searchContactKeys'>,
  organizationId: string,
  { email, network_a_url }: PersonRequest,
  request?: Cancellable,
): Promise<string[]> {
  const search = { organizationId, filters: toFilters({ email, network_a_url }), limit: MAX_CONTACTS + 1 };
  const { items } = await store.searchContactKeys(search, request);
  if (items.length > MAX_CONTACTS) {
    const field = email ? 'email' : 'network_a_url';
    throw invalid({
      pointer: `/${field}`,
      code: 'too_many_contacts',
      detail: `More than ${MAX_CONTACTS} contacts have this ${field}; name them by id.`,
    });
  }
  return items.map(({ id }) => id);
}
