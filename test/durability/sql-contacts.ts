import { expect } from 'chai';
import type { Caller } from '../support/gateway.js';

/** Columns of a contact in SQL that the drawn writes change. */
export const COLUMNS = ['contact_id', 'country', 'city', 'audience_ids'] as const;
export type CopiedContact = Record<(typeof COLUMNS)[number], unknown>;

/** The contacts that a search finds, as SQL must show them, by id. */
export async function searchedContacts(server: Caller, organization_id: string): Promise<CopiedContact[]> {
  const { status, body, text } = await server.call('/api/contacts/search', { organization_id, limit: 1000 });
  expect(status, text).to.equal(200);
  return (body.contacts as CopiedContact[])
    .map(
      (contact) => Object.fromEntries(COLUMNS.map((name) => [name, contact[name] ?? null])) as CopiedContact,
    )
    .sort((one, other) => (String(one.contact_id) < String(other.contact_id) ? -1 : 1));
}
