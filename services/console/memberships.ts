/** Adds contacts to audiences and removes them, with undo. */
import type { Audience } from '../audiences/schema.js';
import { count, plural } from './format.js';
import { failureNotice, type Notice } from './notice.js';
import { href, navigate, param, path } from './router.js';
import type { Chosen, Filter } from './selection.js';
import type { Job, Session } from './session.js';

export interface AudienceName {
  id: string;
  name: string;
}

const AUDIENCE_PAGE = '/audiences/audience';
export const audienceHref = (audience: string) => href(AUDIENCE_PAGE, { audience });

/** Contacts to add or remove: by their ids, or all contacts that a filter finds. */
export type Target = { ids: readonly string[] } | { filter: Filter; total: number };
export const targetOf = (chosen: Chosen): Target =>
  chosen.kind === 'all' ? chosen : { ids: chosen.contacts.map(({ contact_id }) => contact_id) };

type Direction = 'add' | 'remove';
const PATHS = {
  add: '/api/audiences/contacts/add-many',
  remove: '/api/audiences/contacts/remove-many',
} as const;
const OPPOSITE = { add: 'remove', remove: 'add' } as const;
/** Maximum ids per request, and maximum members that undo restores with a deleted audience. */
export const MAX_IDS = 1000;
/** Maximum number of contacts whose change can be undone; their ids stay in memory. */
const MAX_UNDONE = 100_000;

interface Changed {
  /** Contacts whose membership changed, according to the server. */
  ids: string[];
  unchanged: number;
  /** Number of contacts that were deleted, or are in too many audiences. */
  left: number;
  /** Error that ended the work before the last request. */
  failure?: unknown;
}

async function changeMany(
  session: Session,
  direction: Direction,
  audience: AudienceName,
  target: Target,
  job?: Job,
): Promise<Changed> {
  const sum: Changed = { ids: [], unchanged: 0, left: 0 };
  const total = plural('ids' in target ? target.ids.length : target.total, 'contact');
  const run = async (part: { contact_ids: string[] } | { filter: Filter; cursor?: string }) => {
    const request = { audience_id: audience.id, return_changed: true, ...part };
    // Stopping waits for the response, because it names the contacts to undo.
    job?.signal.throwIfAborted();
    const answer = await session.call(PATHS[direction], request);
    sum.ids.push(...(answer.changed_contact_ids ?? []));
    sum.unchanged += answer.unchanged;
    const { not_found: missing, too_many_audiences: full = [] } = { too_many_audiences: [], ...answer };
    sum.left += missing.length + full.length;
    const done = sum.ids.length + sum.unchanged + sum.left;
    if (job && !job.signal.aborted) job.progress.value = `${count(done)} of ${total}`;
    return answer.next_cursor;
  };
  if (job) job.progress.value = `0 of ${total}`;
  try {
    if ('ids' in target) {
      for (let from = 0; from < target.ids.length; from += MAX_IDS) {
        await run({ contact_ids: target.ids.slice(from, from + MAX_IDS) });
      }
    } else {
      let cursor: string | null = null;
      do {
        cursor = await run({ filter: target.filter, ...(cursor === null ? {} : { cursor }) });
      } while (cursor !== null);
    }
  } catch (failure) {
    return { ...sum, failure };
  }
  return sum;
}

interface ChangeNotice extends Notice {
  /** Number of memberships that are known to have changed. */
  changed: number;
}

/** Adds contacts to an audience or removes them, as a job. Undo changes back only the contacts that the job changed. */
export function changeMembers(
  session: Session,
  direction: Direction,
  audience: AudienceName,
  target: Target,
): Promise<ChangeNotice> {
  const title = direction === 'add' ? `Adding to ${audience.name}` : `Removing from ${audience.name}`;
  return session.work(title, async (job) => {
    const changed = await changeMany(session, direction, audience, target, job);
    const { ids, failure } = changed;
    const done = textOf(direction, changed, audience.name);
    const canUndo = ids.length > 0 && ids.length <= MAX_UNDONE;
    const undo = canUndo ? () => changeMembers(session, OPPOSITE[direction], audience, { ids }) : undefined;
    const text = ids.length > MAX_UNDONE ? `${done} This is too much to undo.` : done;
    if (failure === undefined) return { text, undo, changed: ids.length };
    const why = failureNotice('its last step was done', failure);
    return {
      text: `${why.text.replace(/\.$/, '')}. Before that, ${text}`,
      isFailure: true,
      undo,
      changed: ids.length,
    };
  });
}

/** Adds or removes one contact. Undo is offered only if something changed. */
export async function changeMembership(
  session: Session,
  direction: Direction,
  audience: AudienceName,
  contactId: string,
): Promise<Notice> {
  const target = { ids: [contactId] };
  const { ids, unchanged, failure } = await changeMany(session, direction, audience, target);
  if (failure !== undefined) throw failure;
  const [done, already] =
    direction === 'add' ? ['Added to', 'It was already in'] : ['Removed from', 'It was not in'];
  if (unchanged > 0) return { text: `${already} ${audience.name}.` };
  if (ids.length === 0)
    return { text: 'The contact was deleted, or is in too many audiences.', isFailure: true };
  return {
    text: `${done} ${audience.name}.`,
    undo: () => changeMembership(session, OPPOSITE[direction], audience, contactId),
  };
}

function textOf(direction: Direction, { ids, unchanged, left }: Changed, name: string): string {
  const [done, rest] =
    direction === 'add'
      ? [`added to ${name}`, `${count(unchanged)} were in it already`]
      : [`removed from ${name}`, `${count(unchanged)} were not in it`];
  const others = left > 0 ? `; ${count(left)} were deleted, or are in too many audiences` : '';
  return `${plural(ids.length, 'contact')} ${done}${unchanged > 0 ? `; ${rest}` : ''}${others}.`;
}

/** Ids of the members; undefined if they are too many to restore, or the key may not read them. */
async function membersOf(session: Session, audience_id: string): Promise<string[] | undefined> {
  if (session.missingScope('contacts:read') !== null) return undefined;
  const search = { audience_id, limit: MAX_IDS };
  const { contacts, next_cursor } = await session.call('/api/audiences/contacts/search', search);
  return next_cursor === null ? contacts.map(({ contact_id }) => contact_id) : undefined;
}

/** With `ifUpdatedAt`, deletes only if nobody has changed the audience since. */
export async function deleteAudience(
  session: Session,
  { id, name }: AudienceName,
  ifUpdatedAt?: string,
): Promise<Notice> {
  const members = await membersOf(session, id);
  const request = { audience_id: id, return_deleted: true, if_updated_at: ifUpdatedAt };
  const { deleted_audience: audience } = await session.call('/api/audiences/delete', request);
  // Its page has nothing left to show.
  if (path.value === AUDIENCE_PAGE && param('audience') === id)
    navigate(href('/audiences'), { replace: true });
  const text = `The audience ${audience?.name ?? name} was deleted.`;
  if (!members || !audience) return { text };
  const { organization_id: _, created_at: __, updated_at: ___, member_count: ____, ...fields } = audience;
  return {
    text,
    undo: async () => {
      await session.call('/api/audiences/create', fields);
      const { ids, failure } = await changeMany(session, 'add', audience, { ids: members });
      if (failure !== undefined) throw failure;
      return { text: `The audience ${audience.name} is back, with ${plural(ids.length, 'member')}.` };
    },
  };
}

/** Creates an audience and adds contacts. */
export async function createAudienceOf(session: Session, name: string, target: Target): Promise<Notice> {
  const { audience } = await session.call('/api/audiences/create', { name });
  const { text, isFailure, changed } = await changeMembers(session, 'add', audience, target);
  return {
    text: isFailure ? `The audience ${audience.name} was created. ${text}` : `Audience created: ${text}`,
    isFailure,
    undo: undoOfCreation(session, audience, changed),
  };
}

/** Deletes an audience that was just created, unless somebody has changed it or added others. */
export function undoOfCreation(session: Session, made: Audience, added = 0): Notice['undo'] {
  if (session.missingScope('audiences:read') !== null) return undefined;
  return async () => {
    const asked = { audience_id: made.id, include_counts: true };
    const { audience } = await session.call('/api/audiences/get', asked);
    const { name, member_count: members = 0 } = audience;
    const stays = (why: string): Notice => ({
      text: `The audience ${name} ${why}. It stays.`,
      isFailure: true,
    });
    if (audience.updated_at !== made.updated_at) return stays('was changed meanwhile');
    if (members > added)
      return stays(`has ${plural(members, 'member')} now, and ${count(added)} were added with it`);
    return deleteAudience(session, made, made.updated_at);
  };
}
