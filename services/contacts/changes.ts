/** The feed of changed contacts (contract 3.18). */
import { createHmac } from 'node:crypto';
import type { AudienceStore } from '../audiences/audience-store.js';
import { requireAudiences } from '../audiences/endpoints.js';
import { endpointsWith, type HandlerContext } from '../http/endpoint.js';
import { invalid, Problem } from '../http/problems.js';
import { type CursorScope, scopeHash } from '../search/cursor.js';
import { JsonText } from '../shared/json.js';
import { withinFilter } from './bulk-memberships.js';
import type { ChangeFeed, ChangePosition, ChangesRequest, ContactChange } from './change-feed.js';
import type { ContactStore } from './contact-store.js';
import { type ContactChangeItem, ContactChangesRequest, ContactChangesResponse } from './schema.js';
import { namedAudiences, searchContacts, toContactSearch } from './search.js';

interface ChangesServices {
  records: ChangeFeed & Pick<ContactStore, 'searchContactKeys'> & Pick<AudienceStore, 'getAudience'>;
}

type ChangesContext = HandlerContext<ContactChangesRequest & { limit: number }, unknown, ChangesServices>;

const endpoint = endpointsWith<ChangesServices>();

const listChanges = endpoint({
  path: '/api/contacts/changes',
  name: 'ContactChanges',
  summary: 'Read changed contacts',
  description:
    'A feed in which each contact stands once, at its last change, as `present` or `absent`. A client that stores what is `present` and removes what is `absent` has every contact that a search with the same `filter` finds, whenever `more` is false. Continue with `next_cursor`, which is never null. If a page is empty although `more` is true, a job is still running: continue after a second. 410 `cursor_expired` means: begin again without `cursor`, and drop the contacts that the new run does not return.',
  tag: 'Contacts',
  scope: ['contacts:read'],
  slots: ({ filter, limit }) => (filter?.query ? 2 : 1) + ((limit ?? 0) > 200 ? 2 : 0),
  request: ContactChangesRequest,
  response: ContactChangesResponse,
  example: { organization_id: 'org_demo', filter: { country: 'US' }, limit: 2 },
  problems: ['audience_not_found', 'cursor_expired', 'changes_unavailable'],
  check: (_, sent) =>
    sent.cursor !== undefined && sent.from !== undefined
      ? [
          {
            pointer: '/from',
            code: 'not_with_cursor',
            detail: 'from cannot be combined with cursor, which says where to begin.',
          },
        ]
      : [],
  async handle(context) {
    const { body, organizationId, services, signal } = context;
    const scope = { operation: context.operation, organizationId, filters: { ...body.filter } };
    const cursor = body.cursor ? readCursor(scope, body.cursor) : undefined;
    // Only the first page requires the audiences. If one is deleted later, the feed names each of its contacts.
    if (body.filter && !cursor)
      await requireAudiences(services.records, organizationId, namedAudiences(body.filter), context);
    const { search, reading } = await searchOf(context);
    if (cursor && cursor.reading !== reading) throw expired();
    const after = cursor?.position ?? (body.from === 'now' ? 'now' : undefined);
    const page = await services.records.readChanges(
      { organizationId, search, after, limit: body.limit },
      signal,
    );
    if (page.kind === 'unavailable')
      throw new Problem(
        'changes_unavailable',
        'This server keeps no marks of deletions (REACHLINE_CHANGES_DAYS is 0).',
      );
    const { epoch, secret } = page.numbering;
    if (cursor?.position.epoch === epoch && writeCursor(scope, cursor, secret) !== body.cursor)
      throw forged();
    if (page.kind === 'expired') throw expired();
    return {
      organization_id: organizationId,
      changes: page.changes.map(itemOf),
      next_cursor: writeCursor(scope, { position: page.next, reading }, secret),
      more: page.more,
    };
  },
});

function itemOf({ contactId, contact }: ContactChange): JsonText<ContactChangeItem> {
  const id = JSON.stringify(contactId);
  const state = contact === null ? '"absent"' : `"present","contact":${contact}`;
  return new JsonText(`{"contact_id":${id},"state":${state}}`);
}

const expired = () =>
  new Problem(
    'cursor_expired',
    'The cursor is too old, or the store was rebuilt or restored. Begin again without cursor, and drop the contacts that the new run does not return.',
  );

/** The search of the filter, with the reading of its query that `contacts/search` would use, and the number of this reading. */
async function searchOf(
  context: ChangesContext,
): Promise<{ search: ChangesRequest['search']; reading: number }> {
  const { body, organizationId, services, textQuery } = context;
  const { filter } = body;
  if (!filter || Object.keys(filter).length === 0) return { search: undefined, reading: 0 };
  const search = withinFilter(() => toContactSearch(organizationId, filter, textQuery));
  if (textQuery?.fallbackQuery === undefined) return { search, reading: 0 };
  const { query, fallback } = await searchContacts(
    (part) => services.records.searchContactKeys(part, context),
    { ...search, limit: 1 },
  );
  return { search: { ...search, query }, reading: fallback?.fallback ?? 0 };
}

interface Cursor {
  position: ChangePosition;
  reading: number;
}

/** Leaves out `start` once the run has passed it, because it then changes nothing. */
function writeCursor(scope: CursorScope, { position, reading }: Cursor, secret: string): string {
  const { epoch, after, start } = position;
  const isBehind = start.some((number, shard) => number > (after[shard] as number));
  const fields = [scopeHash(scope), epoch, reading, after, ...(isBehind ? [start] : [])];
  const signature = createHmac('sha256', secret).update(JSON.stringify(fields)).digest('base64url');
  return Buffer.from(JSON.stringify([signature.slice(0, 16), ...fields])).toString('base64url');
}

/** Throws 422 for a cursor of another filter, and for text that is no cursor. The signature is checked once the numbering is known. */
function readCursor(scope: CursorScope, cursor: string): Cursor {
  const [, hash, epoch, reading, after, start = after] = decode(cursor);
  if (typeof hash === 'string' && hash !== scopeHash(scope)) {
    const detail =
      'cursor belongs to a feed with another filter; repeat that filter, or begin without cursor.';
    throw invalid({ pointer: '/cursor', code: 'cursor_mismatch', detail });
  }
  if (typeof epoch === 'string' && isNumber(reading) && isNumbers(after) && isNumbers(start)) {
    if (after.length === start.length) return { position: { epoch, after, start }, reading };
  }
  throw forged();
}

const forged = () =>
  invalid({
    pointer: '/cursor',
    code: 'invalid_cursor',
    detail: 'cursor is not one that this service gave out; begin without it.',
  });

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= -1;
const isNumbers = (value: unknown): value is number[] => Array.isArray(value) && value.every(isNumber);

function decode(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

export const changeEndpoints = [listChanges];
