/** Adds many contacts to an audience at once, or removes many contacts from it (contract 3.16). */
import type { AudienceStore } from '../audiences/audience-store.js';
import { audienceNotFound, requireAudiences } from '../audiences/endpoints.js';
import { endpointsWith, type HandlerContext } from '../http/endpoint.js';
import { invalid, Problem } from '../http/problems.js';
import { readCursor, writeCursor } from '../search/cursor.js';
import type { SortKey } from '../search/query.js';
import { OverloadedError } from '../shared/store-errors.js';
import type { FieldError } from '../shared/validation.js';
import type { ContactStore, MembershipChange } from './contact-store.js';
import { exactlyOneOf } from './person.js';
import {
  AddContactsRequest,
  AddContactsResponse,
  RemoveContactsRequest,
  RemoveContactsResponse,
} from './schema.js';
import { namedAudiences, searchContacts, toContactSearch } from './search.js';
import { type Identifier, idIdentifiers } from './suppression.js';

interface BulkServices {
  records: ContactStore & Pick<AudienceStore, 'getAudience'> & { refresh(): Promise<void> };
}

type BulkContext = HandlerContext<RemoveContactsRequest, unknown, BulkServices>;

const endpoint = endpointsWith<BulkServices>();

const CONTACTS_PER_REQUEST = 10_000;
/** Contacts per request if the response lists the contacts that changed. */
const NAMED_PER_REQUEST = 1000;
/** Contacts by id per step. Other writes run between two steps. */
const CONTACTS_PER_STEP = 1000;
/** Milliseconds of work after which a request ends with a cursor, well before its timeout. */
const MAX_WORK_MS = 10_000;

const ALL_MATCHES = `Name the contacts by exactly one of \`contact_ids\` and \`filter\`. A filter is the body of a contact search and finds what \`match: all\` finds; an empty filter finds every contact. A request processes at most ${CONTACTS_PER_REQUEST} contacts: repeat it with \`cursor\` until \`next_cursor\` is null. It may be repeated at any point, because no contact is changed twice. With \`return_changed\`, \`changed_contact_ids\` lists the contacts whose membership changed, so that exactly this can be undone, and a request processes at most ${NAMED_PER_REQUEST}.`;

const addContacts = endpoint({
  path: '/api/audiences/contacts/add-many',
  name: 'AddContacts',
  summary: 'Add many contacts to an audience',
  description: ALL_MATCHES,
  tag: 'Audiences',
  // The counts reveal who matches, so the key must read contacts too.
  scope: ['audiences:write', 'contacts:read'],
  slots: () => 4,
  request: AddContactsRequest,
  response: AddContactsResponse,
  example: { organization_id: 'org_demo', audience_id: 'aud_newsletter', filter: { country: 'US' } },
  problems: ['audience_not_found'],
  check: checkContacts,
  shows: shownContacts,
  async handle(context) {
    const { full, ...result } = await changeMemberships(context, 'join');
    return { ...result, too_many_audiences: full };
  },
});

const removeContacts = endpoint({
  path: '/api/audiences/contacts/remove-many',
  name: 'RemoveContacts',
  summary: 'Remove many contacts from an audience',
  description: `The contacts themselves stay. ${ALL_MATCHES}`,
  tag: 'Audiences',
  scope: ['audiences:write', 'contacts:read'],
  slots: () => 4,
  request: RemoveContactsRequest,
  response: RemoveContactsResponse,
  example: {
    organization_id: 'org_demo',
    audience_id: 'aud_newsletter',
    contact_ids: ['demo_contact_0001', 'demo_contact_9999'],
  },
  problems: ['audience_not_found'],
  check: checkContacts,
  shows: shownContacts,
  async handle(context) {
    const { full: _, ...result } = await changeMemberships(context, 'leave');
    return result;
  },
});

function shownContacts({
  changed_contact_ids = [],
  not_found,
  too_many_audiences = [],
}: {
  changed_contact_ids?: readonly string[];
  not_found: readonly string[];
  too_many_audiences?: readonly string[];
}): Identifier[] {
  return idIdentifiers([...changed_contact_ids, ...not_found, ...too_many_audiences]);
}

function checkContacts(_: unknown, sent: Readonly<Record<string, unknown>>): FieldError[] {
  const errors = exactlyOneOf('contact_ids', 'filter')(_, sent);
  if (sent.cursor !== undefined && sent.filter === undefined) {
    errors.push({
      pointer: '/cursor',
      code: 'cursor_mismatch',
      detail: 'cursor needs the filter it belongs to.',
    });
  }
  return errors;
}

async function changeMemberships(context: BulkContext, change: MembershipChange['change']) {
  const { body, organizationId, services, signal } = context;
  const { audience_id: audienceId } = body;
  const { records } = services;
  const found = body.contact_ids
    ? { ids: [...new Set(body.contact_ids)], cursorAfter: () => null }
    : await findMatches(context);
  const endsAt = performance.now() + MAX_WORK_MS;
  const result = { changed: 0, unchanged: 0, not_found: [] as string[], full: [] as string[] };
  const changed: string[] = [];
  let done = 0;
  signal.throwIfAborted();
  context.beginsToWrite();
  do {
    const contactIds = found.ids.slice(done, done + CONTACTS_PER_STEP);
    const step = records.changeMemberships({ organizationId, audienceId, contactIds, change });
    // If the store is busy in a later step, the response reports the finished steps, and its cursor continues after these steps.
    const outcome = await (done === 0
      ? step
      : step.catch((error: unknown) => {
          if (error instanceof OverloadedError) return null;
          throw error;
        }));
    if (outcome === null) break;
    if (outcome.kind === 'audience_not_found') throw audienceNotFound(organizationId, audienceId);
    result.changed += outcome.changed.length;
    if (body.return_changed) changed.push(...outcome.changed);
    result.unchanged += outcome.unchanged;
    // A match that was deleted meanwhile does not count as missing.
    if (body.contact_ids) result.not_found.push(...outcome.notFound);
    result.full.push(...outcome.full);
    done += contactIds.length;
  } while (done < found.ids.length && performance.now() < endsAt && !signal.aborted);
  await records.refresh();
  return {
    organization_id: organizationId,
    audience_id: audienceId,
    ...result,
    ...(body.return_changed && { changed_contact_ids: changed }),
    next_cursor: found.cursorAfter(done),
  };
}

/** Finds the contacts that match from the cursor on, and the cursor after the first `done` of these contacts. */
async function findMatches(
  context: BulkContext,
): Promise<{ ids: string[]; cursorAfter(done: number): string | null }> {
  const { operation, body, organizationId, services, textQuery } = context;
  const { audience_id, filter, cursor, return_changed } = body;
  const given = filter ?? {};
  const scope = { operation, organizationId, filters: { ...given, of: audience_id } };
  const after = cursor ? readCursor(scope, cursor, textQuery) : undefined;
  if (after && 'code' in after) throw invalid({ pointer: '/cursor', ...after });
  await requireAudiences(services.records, organizationId, namedAudiences(given), context);
  const { page, fallback } = await searchContacts(
    (search) => services.records.searchContactKeys(search, context),
    {
      ...withinFilter(() => toContactSearch(organizationId, given, textQuery)),
      limit: return_changed ? NAMED_PER_REQUEST : CONTACTS_PER_REQUEST,
      after,
      skipsTotal: true,
    },
  );
  const cursorAfter = (done: number) => {
    const isAll = done >= page.items.length;
    const last: SortKey | null = isAll ? page.next : { ...(page.items[done - 1] as SortKey), ...fallback };
    return writeCursor(scope, last);
  };
  return { ids: page.items.map(({ id }) => id), cursorAfter };
}

/** Prefixes pointers of errors with the field of the filter. */
export function withinFilter<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem) || !error.extras.errors) throw error;
    throw invalid(...error.extras.errors.map((each) => ({ ...each, pointer: `/filter${each.pointer}` })));
  }
}

export const bulkMembershipEndpoints = [addContacts, removeContacts];
