import type { Client } from '../../client/client.js';
import { ReachlineProblem } from '../../client/problems.js';
import { UsageError } from '../errors.js';
import { type GatewayOptions, withClient } from '../gateway.js';
import { confirm, type Io, printErr, printOut } from '../io.js';

export interface PersonOptions extends GatewayOptions {
  id?: string;
  email?: string;
  profile?: string;
  dryRun?: boolean;
  yes?: boolean;
}

interface Person {
  contact_id?: string;
  email?: string;
  network_a_url?: string;
}

/** Of pages. */
const MOST = { limit: 1000 };

export async function deleteContacts(io: Io, options: PersonOptions): Promise<void> {
  const person = personOf(options);
  await withClient(io, options, ['contacts:write', 'contacts:read'], async (client) => {
    const ids = (await contactsOfPerson(client, person)).map(({ contact_id }) => contact_id);
    if (options.dryRun) {
      printOut(io, `${contactsOf(ids.length)} would be deleted${listed(ids)}.`);
      return;
    }
    const question = `Delete ${contactsOf(ids.length)}${listed(ids)}?`;
    if (ids.length > 0) await confirm(io, options.yes, question, 'Nothing was deleted.');
    const { contact_ids } = await client.call('/api/contacts/delete', person);
    printOut(io, `${contactsOf(contact_ids.length)} deleted${listed(contact_ids)}.`);
  });
}

/** Prints the response, which holds the proof, as JSON. */
export async function eraseContacts(io: Io, options: PersonOptions): Promise<void> {
  const person = personOf(options);
  await withClient(io, options, ['contacts:erase'], async (client) => {
    const { erased } = await client.call('/api/contacts/erase', person, { query: { dry_run: true } });
    if (options.dryRun) {
      printOut(io, `${contactsOf(erased.length)} would be erased${listed(erased)}.`);
      return;
    }
    const question = `Erase ${contactsOf(erased.length)}${listed(erased)} for good, and reject later records of the person?`;
    await confirm(io, options.yes, question, 'Nothing was erased.');
    const answer = await client.call('/api/contacts/erase', person);
    printOut(io, JSON.stringify(answer));
    if (answer.proof?.completed_at !== null) return;
    printErr(
      io,
      'The servers remove the last bytes in the background; reachline contacts erasures shows when they are done.',
    );
  });
}

/** Prints proofs, one JSON object per line. */
export async function listErasures(io: Io, options: PersonOptions): Promise<void> {
  await withClient(io, options, ['contacts:erase'], async (client) => {
    for await (const proof of client.items('/api/contacts/erasures', MOST))
      printOut(io, JSON.stringify(proof));
  });
}

/** Prints all stored data about one person as JSON. */
export async function exportPerson(io: Io, options: PersonOptions): Promise<void> {
  const person = personOf(options);
  await withClient(io, options, ['contacts:read', 'audiences:read'], async (client) => {
    const contacts = await contactsOfPerson(client, person);
    const audiences: unknown[] = [];
    for (const audience_id of new Set(contacts.flatMap(({ audience_ids }) => audience_ids))) {
      const found = await client.call('/api/audiences/get', { audience_id }).catch(ifAudienceNotFound);
      if (found) audiences.push(found.audience);
    }
    printOut(io, JSON.stringify({ contacts, audiences }));
  });
}

function ifAudienceNotFound(error: unknown): null {
  if (error instanceof ReachlineProblem && error.code === 'audience_not_found') return null;
  throw error;
}

function personOf({ id, email, profile }: PersonOptions): Person {
  const given = { contact_id: id, email, network_a_url: profile };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  if (named.length !== 1) throw new UsageError('Name the person with one of --id, --email and --profile.');
  return Object.fromEntries(named);
}

async function contactsOfPerson(client: Client, { contact_id, ...person }: Person) {
  if (contact_id !== undefined) {
    return (await client.call('/api/contacts/get-many', { contact_ids: [contact_id] })).contacts;
  }
  const contacts = [];
  for await (const contact of client.items('/api/contacts/search', { ...person, ...MOST }))
    contacts.push(contact);
  return contacts;
}

const contactsOf = (count: number) => (count === 1 ? '1 contact' : `${count} contacts`);

const MAX_LISTED = 10;

function listed(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const more = ids.length > MAX_LISTED ? `, and ${ids.length - MAX_LISTED} more` : '';
  return `: ${ids.slice(0, MAX_LISTED).join(', ')}${more}`;
}
