import { createClient, type OperationPath } from '../../client/client.js';
import { type ApiEndpoint, endpoints } from '../../gateway/api.js';
import { callOperation } from '../../http/call.js';
import type { Scope } from '../../http/scopes.js';
import type { Stores } from '../../stores/open-stores.js';
import { requireId } from '../arguments.js';
import { CommandError, UsageError } from '../errors.js';
import { type GatewayOptions, gatewayError, namedGateway, withFolder } from '../gateway.js';
import { confirm, type Io, printErr, printOut, terminalJson } from '../io.js';
import { storeServices } from '../store-services.js';

export interface PersonOptions extends GatewayOptions {
  organization?: string;
  id?: string;
  email?: string;
  profile?: string;
  dryRun?: boolean;
  yes?: boolean;
}

type Body = Record<string, unknown>;
/** Calls an operation, of the data folder or of a gateway. */
type Call = (path: string, body: Body, query?: Body) => Promise<Body>;

/** Key of proofs of erasures from the command line, where none goes through a gateway. */
const COMMAND_LINE = 'command-line';

export async function deleteContacts(io: Io, options: PersonOptions): Promise<void> {
  const person = personOf(options);
  await withOperations(io, options, ['contacts:write', 'contacts:read'], async (call) => {
    const ids = await idsOf(call, person);
    if (options.dryRun) {
      printOut(io, `${contactsOf(ids.length)} would be deleted${listed(ids)}.`);
      return;
    }
    if (
      ids.length > 0 &&
      !options.yes &&
      !(await confirm(io, `Delete ${contactsOf(ids.length)}${listed(ids)}?`))
    )
      throw new CommandError('Nothing was deleted.');
    const { contact_ids } = await call('/api/contacts/delete', person);
    const deleted = contact_ids as string[];
    printOut(io, `${contactsOf(deleted.length)} deleted${listed(deleted)}.`);
  });
}

/** Prints the answer, which holds the proof, as JSON. */
export async function eraseContacts(io: Io, options: PersonOptions): Promise<void> {
  const person = personOf(options);
  await withOperations(io, options, ['contacts:erase'], async (call) => {
    const wouldBe = await call('/api/contacts/erase', person, { dry_run: true });
    const ids = wouldBe.erased as string[];
    if (options.dryRun) {
      printOut(io, `${contactsOf(ids.length)} would be erased${listed(ids)}.`);
      return;
    }
    const question = `Erase ${contactsOf(ids.length)}${listed(ids)} for good, and keep the person out?`;
    if (!options.yes && !(await confirm(io, question))) throw new CommandError('Nothing was erased.');
    const answer = await call('/api/contacts/erase', person);
    printOut(io, terminalJson(answer));
    const { completed_at } = answer.proof as { completed_at: string | null };
    if (completed_at !== null) return;
    printErr(
      io,
      'The servers remove the last bytes in the background; reachline contacts erasures shows when they are done.',
    );
  });
}

/** Prints proofs, one JSON object per line. */
export async function listErasures(io: Io, options: PersonOptions): Promise<void> {
  await withOperations(io, options, ['contacts:erase'], async (call) => {
    for await (const page of pagesOf(call, '/api/contacts/erasures', {})) {
      for (const proof of page.erasures as object[]) printOut(io, terminalJson(proof));
    }
  });
}

/** Prints everything that is kept of one person as JSON. */
export async function exportPerson(io: Io, options: PersonOptions): Promise<void> {
  const person = personOf(options);
  await withOperations(io, options, ['contacts:read', 'audiences:read'], async (call) => {
    const contacts = await contactsOfPerson(call, person);
    const audienceIds = [...new Set(contacts.flatMap((contact) => contact.audience_ids as string[]))];
    const audiences: unknown[] = [];
    for (const audience_id of audienceIds) {
      const found = await call('/api/audiences/get', { audience_id }).catch(ifAudienceNotFound);
      if (found) audiences.push(found.audience);
    }
    printOut(io, terminalJson({ contacts, audiences }));
  });
}

function ifAudienceNotFound(error: unknown): null {
  const { code, problemCode = code } = error as { code?: string; problemCode?: string };
  if (problemCode === 'audience_not_found') return null;
  throw error;
}

function personOf({ id, email, profile }: PersonOptions): Body {
  const given = { contact_id: id, email, network_a_url: profile };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  if (named.length !== 1) throw new UsageError('Name the person with one of --id, --email and --profile.');
  return Object.fromEntries(named);
}

async function contactsOfPerson(call: Call, person: Body): Promise<Body[]> {
  if (person.contact_id !== undefined) {
    const { contacts } = await call('/api/contacts/get-many', { contact_ids: [person.contact_id] });
    return contacts as Body[];
  }
  const contacts: Body[] = [];
  for await (const page of pagesOf(call, '/api/contacts/search', person)) {
    contacts.push(...(page.contacts as Body[]));
  }
  return contacts;
}

async function* pagesOf(call: Call, path: string, body: Body): AsyncGenerator<Body, void> {
  let cursor: unknown;
  do {
    const page = await call(path, { ...body, cursor, limit: 1000 });
    yield page;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

const idsOf = async (call: Call, person: Body): Promise<string[]> =>
  (await contactsOfPerson(call, person)).map(({ contact_id }) => contact_id as string);

const contactsOf = (count: number) => (count === 1 ? '1 contact' : `${count} contacts`);

const MAX_LISTED = 10;

function listed(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const more = ids.length > MAX_LISTED ? `, and ${ids.length - MAX_LISTED} more` : '';
  return `: ${ids.slice(0, MAX_LISTED).join(', ')}${more}`;
}

/** Opens the data folder, the server that holds it, or the gateway of the options. */
async function withOperations(
  io: Io,
  options: PersonOptions,
  scopes: readonly Scope[],
  work: (call: Call) => Promise<void>,
): Promise<void> {
  const { organization } = options;
  const target = namedGateway(io, options, scopes);
  if (!target && organization === undefined) {
    throw new UsageError(
      'Name the organization with --organization <id>, or a gateway with --url and REACHLINE_API_KEY.',
    );
  }
  if (organization !== undefined) requireId('--organization', organization);
  const through =
    ({ url, apiKey }: { url: string; apiKey: string }): Call =>
    async (path, body, query) => {
      const client = createClient({ url, apiKey, organizationId: organization });
      return client
        .call(path as OperationPath, body as never, { query: query as never })
        .catch((error: unknown) => {
          throw gatewayError(error, url);
        }) as Promise<Body>;
    };
  if (target) {
    await work(through(target));
    return;
  }
  await withFolder(io, { organization, scope: scopes }, (opened) =>
    work('search' in opened ? callStores(opened, organization as string) : through(opened)),
  );
}

/** Calls operations without a gateway. Throws their Problems. */
const callStores =
  (stores: Stores, organizationId: string): Call =>
  async (path, body, query) => {
    const endpoint = endpoints.find((each) => each.path === path) as ApiEndpoint;
    const caller = { services: storeServices(stores), organizationId, keyId: COMMAND_LINE };
    return callOperation(endpoint, caller, body, query);
  };
