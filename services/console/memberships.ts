/** Contacts into and out of audiences, with what undoes it. */
import type { Contact } from '../contacts/schema.js';
import { failureOf, type RequestOf } from './api.js';
import { count, plural } from './format.js';
import type { Notice } from './notice.js';
import { hrefWith, navigate, param } from './router.js';
import { call, missingScope } from './session.js';

export interface AudienceName {
  id: string;
  name: string;
}

/** Contacts by their ids, or all that a search matches. */
export type Chosen =
  | { kind: 'ids'; contacts: readonly Contact[] }
  | { kind: 'all'; filter: Filter; total: number };
type Filter = Omit<RequestOf<'/api/contacts/search'>, 'limit' | 'cursor' | 'organization_id'>;

type Direction = 'add' | 'remove';
const PATHS = {
  add: '/api/audiences/contacts/add-many',
  remove: '/api/audiences/contacts/remove-many',
} as const;
/** Ids of one request, and members that come back with a deleted audience. */
export const MAX_IDS = 1000;

export interface Work {
  signal: AbortSignal;
  /** Contacts that are done. */
  onProgress(done: number): void;
}

interface Changed {
  changed: number;
  unchanged: number;
  /** Why it ended before the last request. */
  failure?: unknown;
}

async function changeMany(
  direction: Direction,
  audience: AudienceName,
  target: { ids: readonly string[] } | { filter: Filter },
  { signal, onProgress }: Work,
): Promise<Changed> {
  const sum: Changed = { changed: 0, unchanged: 0 };
  const run = async (body: object) => {
    const request = { audience_id: audience.id, ...body } as RequestOf<(typeof PATHS)[Direction]>;
    const answer = await call(PATHS[direction], request, { signal });
    sum.changed += answer.changed;
    sum.unchanged += answer.unchanged;
    onProgress(sum.changed + sum.unchanged);
    return answer.next_cursor;
  };
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

const OPPOSITE = { add: 'remove', remove: 'add' } as const;
const unattended: Work = { signal: new AbortController().signal, onProgress: () => undefined };

/** The contacts of a search, where they are few enough for one request. */
async function byId(chosen: Chosen, { signal }: Work): Promise<Chosen> {
  if (chosen.kind === 'ids' || chosen.total > MAX_IDS) return chosen;
  const search = { ...chosen.filter, match: 'all' as const, limit: MAX_IDS };
  const { contacts, next_cursor } = await call('/api/contacts/search', search, { signal });
  return next_cursor === null ? { kind: 'ids', contacts } : chosen;
}

/**
 * Adds contacts to an audience or removes them. Of contacts by id, those whose membership would not change are left out, so that undoing
 * it touches no other; beyond 1 000 it can be undone where all that matched were changed.
 */
export async function changeMembers(
  direction: Direction,
  audience: AudienceName,
  given: Chosen,
  work: Work,
): Promise<Notice> {
  const chosen = await byId(given, work);
  const isMember = ({ audience_ids }: Contact) => audience_ids.includes(audience.id);
  const target =
    chosen.kind === 'all'
      ? { filter: chosen.filter }
      : {
          ids: chosen.contacts
            .filter((contact) => isMember(contact) === (direction === 'remove'))
            .map(({ contact_id }) => contact_id),
        };
  const { changed, unchanged, failure } = await changeMany(direction, audience, target, work);
  const before = chosen.kind === 'all' ? unchanged : chosen.contacts.length - changed;
  const opposite = OPPOSITE[direction];
  if (failure !== undefined)
    return interrupted(textOf(direction, changed, unchanged, audience.name), failure);
  const text = textOf(direction, changed, before, audience.name);
  // Else some of them were not as they are shown, and undoing it would change these too.
  const canUndo = changed > 0 && unchanged === 0;
  if (!canUndo) return { text };
  return {
    text,
    undo: async () => {
      const undone = await changeMany(opposite, audience, target, unattended);
      const undoneText = textOf(opposite, undone.changed, 0, audience.name);
      return undone.failure === undefined ? { text: undoneText } : interrupted(undoneText, undone.failure);
    },
  };
}

/** `done` is what was done before. */
function interrupted(done: string, failure: unknown): Notice {
  const { title, detail } = failureOf(failure);
  return { text: [title, detail, `Until then ${done}`].filter(Boolean).join('. '), isFailure: true };
}

/** One contact. Only what it changed can be undone. */
export async function changeMembership(
  direction: Direction,
  audience: AudienceName,
  contactId: string,
): Promise<Notice> {
  const { changed, unchanged, failure } = await changeMany(
    direction,
    audience,
    { ids: [contactId] },
    unattended,
  );
  if (failure !== undefined) throw failure;
  const [done, already] =
    direction === 'add' ? ['Added to', 'It was already in'] : ['Removed from', 'It was not in'];
  if (unchanged > 0) return { text: `${already} ${audience.name}.` };
  if (changed === 0)
    return { text: 'The contact was deleted, or is in too many audiences.', isFailure: true };
  return {
    text: `${done} ${audience.name}.`,
    undo: () => changeMembership(OPPOSITE[direction], audience, contactId),
  };
}

function textOf(direction: Direction, changed: number, before: number, name: string): string {
  const done = direction === 'add' ? `added to ${name}` : `removed from ${name}`;
  const rest =
    direction === 'add' ? `${count(before)} were in it already` : `${count(before)} were not in it`;
  return `${plural(changed, 'contact')} ${done}${before > 0 ? `; ${rest}` : ''}.`;
}

/** The ids of the members; undefined where they are too many to be put back, or may not be read. */
async function membersOf(audience_id: string): Promise<string[] | undefined> {
  if (missingScope('contacts:read') !== null) return undefined;
  const search = { audience_id, limit: MAX_IDS };
  const { contacts, next_cursor } = await call('/api/audiences/contacts/search', search);
  return next_cursor === null ? contacts.map(({ contact_id }) => contact_id) : undefined;
}

export async function deleteAudience({ id, name }: AudienceName): Promise<Notice> {
  const [{ audience }, members] = await Promise.all([
    call('/api/audiences/get', { audience_id: id }),
    membersOf(id),
  ]);
  await call('/api/audiences/delete', { audience_id: id });
  if (param('audience') === id) navigate(hrefWith({ audience: null }));
  const text = `The audience ${name} was deleted.`;
  if (!members) return { text };
  const { organization_id: _, created_at: __, member_count: ___, ...fields } = audience;
  return {
    text,
    undo: async () => {
      await call('/api/audiences/create', fields);
      const { failure } = await changeMany('add', audience, { ids: members }, unattended);
      if (failure !== undefined) throw failure;
      return { text: `The audience ${name} is back, with ${plural(members.length, 'member')}.` };
    },
  };
}

/** Undone by deleting the audience. */
export async function createAudienceOf(name: string, chosen: Chosen, work: Work): Promise<Notice> {
  const members = await byId(chosen, work);
  const { audience } = await call('/api/audiences/create', { name }, { signal: work.signal });
  const { text, isFailure } = await changeMembers('add', audience, members, work);
  return {
    text: isFailure ? `The audience ${audience.name} was created. ${text}` : `Audience created: ${text}`,
    isFailure,
    undo: () => deleteAudience(audience),
  };
}
