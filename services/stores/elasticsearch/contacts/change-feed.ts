/**
 * Reads the feed of changes. Elasticsearch numbers the writes of each shard (`_seq_no`), and every document has the number of its last
 * write. No write up to the global checkpoint of its shard is missing. A position has a time, and then a number for each shard. Marks of
 * deletions after the position are younger than the time, so the time tells whether one of them may be gone. Processes may have had other
 * settings, so the time up to which marks were deleted is noted, too.
 */
import type { estypes } from '@elastic/elasticsearch';
import type {
  ChangeFeed,
  ChangePosition,
  ChangesPage,
  ChangesRequest,
  ChangesResult,
} from '../../../contacts/change-feed.js';
import type { ContactSearch } from '../../../contacts/contact-store.js';
import type { Contact } from '../../../contacts/schema.js';
import type { Json } from '../../../shared/json.js';
import { type Clock, DAY_MS } from '../../../shared/time.js';
import { PageBuilder } from '../../common/page-builder.js';
import type { Cluster } from '../client.js';
import { versionOfHit } from '../documents.js';
import type { DeletedMarks } from '../erasure/deleted-marks.js';
import { lastOperations } from '../erasure/expunge.js';
import type { IndexNames } from '../migrations/indices.js';
import { acquireReindexLock } from '../migrations/reindex-lock.js';
import type { BoundedRead } from '../pages.js';
import { readShards, type Shard } from '../shard-positions.js';
import type { ContactDocuments } from './documents.js';
import {
  type AudienceToken,
  type ContactSource,
  currentContact,
  isTombstone,
  type Tombstone,
} from './indexed-contact.js';
import { contactQuery } from './search.js';

/** Maximum changes that a page reads, including changes that it leaves out. */
const MAX_READ = 10_000;
const DOCUMENTS_PER_READ = 250;
/** Bytes of a change in a response besides the contact: its id and the names of the fields. */
const BYTES_PER_CHANGE = 256;
/** Time for which marks are kept beyond their age, because the clocks of processes differ. */
const CLOCK_MARGIN_MS = 3_600_000;
const MARKS_PER_STEP = 1000;
const MAX_CACHED_ORGANIZATIONS = 10_000;

export interface ChangeFeedDeps {
  cluster: Cluster;
  names: IndexNames;
  contacts: ContactDocuments;
  bounded: BoundedRead;
  ageClock: Clock;
  /** Days for which marks of deleted and erased contacts are kept. */
  changesDays: number;
  deletedMarks: DeletedMarks;
  refresh(): Promise<void>;
  /** The search with tokens of audiences. */
  withTokens(search: ContactSearch): Promise<ContactSearch>;
  /** Tokens of deleted audiences that contacts may still hold, by organization. */
  formerTokens(organizationId?: string): Promise<ReadonlyMap<string, ReadonlySet<AudienceToken>>>;
}

export function changeFeed(deps: ChangeFeedDeps): ChangeFeed {
  const { bounded, ageClock, changesDays, deletedMarks } = deps;
  const shardsOf = new Map<string, ReadonlySet<number>>();

  /** The shards that hold contacts of the organization. */
  async function ownShards(index: string, organizationId: string): Promise<ReadonlySet<number>> {
    const key = `${index} ${organizationId}`;
    const known = shardsOf.get(key);
    if (known) return known;
    const { shards } = await deps.cluster.run((client) =>
      client.searchShards({ index, routing: organizationId }),
    );
    const found = new Set(shards.flat().map(({ shard }) => shard));
    if (shardsOf.size >= MAX_CACHED_ORGANIZATIONS) shardsOf.clear();
    shardsOf.set(key, found);
    return found;
  }

  return {
    async readChanges(request, caller) {
      if (changesDays === 0 && request.organizationId !== undefined) return { kind: 'unavailable' };
      const now = ageClock.now();
      const { index, numbering, shards: all } = await readShards(deps.cluster, deps.names);
      const { epoch } = numbering;
      const { organizationId, after } = request;
      const own = organizationId === undefined ? undefined : await ownShards(index, organizationId);
      const shards = own ? all.filter(({ shard }) => own.has(shard)) : all;
      const present = [now, ...shards.map(({ checkpoint }) => checkpoint)];
      const begin: ChangePosition = { epoch, after: [now, ...shards.map(() => -1)], start: present };
      const position = after === undefined ? begin : after === 'now' ? { ...begin, after: present } : after;
      const isKnown =
        position.epoch === epoch &&
        [position.after, position.start].every(
          ([, ...numbers]) =>
            numbers.length === shards.length &&
            numbers.every((number, place) => number <= (shards[place] as Shard).last),
        );
      const [time = 0] = position.after;
      const expired: ChangesResult = { kind: 'expired', numbering };
      if (!isKnown || (changesDays > 0 && now - time > changesDays * DAY_MS)) return expired;
      return bounded<ChangesResult>(caller, async (signal) => {
        const { changes, reached, bytes, isFormer } = await readPage(deps, request, {
          index,
          shards,
          position,
          signal,
        });
        // Read after the page, which may lack marks that are deleted meanwhile. Deletions of marks are writes, so without writes none is gone.
        const isIdle = shards.every(
          ({ checkpoint }, place) => checkpoint <= (position.after[place + 1] as number),
        );
        if (!isIdle && changesDays > 0 && time < (await deletedMarks.readBefore(now)))
          return { result: expired, bytes: 0 };
        const isPresent = shards.every(({ checkpoint }, place) => (reached[place] as number) >= checkpoint);
        const result: ChangesPage = {
          kind: 'page',
          numbering,
          changes,
          next: { ...position, after: [isPresent ? now : time, ...reached] },
          more: isFormer || shards.some(({ last }, place) => (reached[place] as number) < last),
        };
        return { result, bytes };
      });
    },
    deleteOldMarks: () => deleteOldMarks(deps),
  };
}

interface Place {
  index: string;
  shards: readonly Shard[];
  position: ChangePosition;
  signal: AbortSignal;
}

async function readPage(deps: ChangeFeedDeps, request: ChangesRequest, place: Place) {
  const { contacts, refresh } = deps;
  const { organizationId, limit } = request;
  const { index, shards, signal } = place;
  const [, ...after] = place.position.after;
  const [, ...start] = place.position.start;
  const former = await deps.formerTokens(organizationId);
  const isFormer = [...former.values()].some(({ size }) => size > 0);
  const changes: ChangesPage['changes'] = [];
  const reached = [...after];
  const builder = new PageBuilder<Json<Contact> | null, Contact | null>({
    limit,
    reservedBytesPerItem: BYTES_PER_CHANGE,
    toJson: (contact) => contact ?? 'null',
  });
  const page = () => ({ changes, reached, bytes: builder.bytes, isFormer });
  if (shards.every(({ checkpoint }, at) => checkpoint <= (after[at] as number))) return page();
  // Writes up to the checkpoints are acknowledged, but searches may not find them yet.
  await refresh();
  const query = await feedQuery(deps, request);
  let read = 0;
  for (const [at, { shard, checkpoint }] of shards.entries()) {
    while ((reached[at] as number) < checkpoint) {
      if (read >= MAX_READ) return page();
      const { hits } = await contacts.search(
        {
          index,
          preference: `_shards:${shard}`,
          size: DOCUMENTS_PER_READ,
          track_total_hits: false,
          seq_no_primary_term: true,
          query: {
            bool: {
              ...query,
              filter: [{ range: { _seq_no: { gt: reached[at], lte: checkpoint } } }, ...query.filter],
            },
          },
          sort: [{ _seq_no: 'asc' }],
        },
        signal,
      );
      for (const hit of hits.hits) {
        const [organization, contactId] = (hit._id as string).split('/') as [string, string];
        const contact = presentContact(hit, request.search !== undefined, former.get(organization));
        if (contact !== null || (hit._seq_no as number) > (start[at] as number)) {
          if (!builder.add(contact)) return page();
          changes.push({ organizationId: organization, contactId, contact });
        }
        reached[at] = hit._seq_no as number;
      }
      if (hits.hits.length < DOCUMENTS_PER_READ) reached[at] = checkpoint;
      read += hits.hits.length;
    }
  }
  return page();
}

/** Name of the query that tells which documents the search finds. */
const MATCH = 'match';

/** Finds contacts and marks of an organization, or of all organizations. */
async function feedQuery({ withTokens }: ChangeFeedDeps, { organizationId, search }: ChangesRequest) {
  const of = (field: string): estypes.QueryDslQueryContainer =>
    organizationId === undefined ? { exists: { field } } : { term: { [field]: organizationId } };
  const filter: estypes.QueryDslQueryContainer[] = [
    { bool: { should: [of('organization_id'), of('mark_organization_id')], minimum_should_match: 1 } },
  ];
  if (!search || organizationId === undefined) return { filter };
  const { request } = contactQuery(await withTokens({ ...search, organizationId, limit: 0 }));
  const match = { bool: { filter: [request.query as estypes.QueryDslQueryContainer], _name: MATCH } };
  return { filter, should: [match], minimum_should_match: 0 };
}

function presentContact(
  { _source, matched_queries }: estypes.SearchHit<ContactSource | Tombstone>,
  hasSearch: boolean,
  former: ReadonlySet<AudienceToken> = new Set(),
): Json<Contact> | null {
  const source = _source as ContactSource | Tombstone;
  if (isTombstone(source) || (hasSearch && !(matched_queries as string[] | undefined)?.includes(MATCH)))
    return null;
  return currentContact(source, former);
}

/** Does nothing during a reindex, which does not see deletions; the next run deletes the marks. */
async function deleteOldMarks({
  cluster,
  names,
  contacts,
  ageClock,
  changesDays,
  deletedMarks,
}: ChangeFeedDeps): Promise<void> {
  const now = ageClock.now();
  const before = now - changesDays * DAY_MS;
  const lt = before - CLOCK_MARGIN_MS;
  const lock = await acquireReindexLock(cluster, names, ageClock);
  if (!lock) return;
  try {
    for (;;) {
      await contacts.refresh();
      const { hits } = await contacts.search({
        size: MARKS_PER_STEP,
        track_total_hits: false,
        seq_no_primary_term: true,
        query: { range: { marked_at: { lt, format: 'epoch_millis' } } },
      });
      const found = hits.hits.map((hit) => versionOfHit(hit));
      if (found.length === 0) break;
      lock.throwIfLost();
      const erased = found.filter(({ source }) => (source as Tombstone).erased);
      await deletedMarks.begin(before, now, erased.length > 0);
      await contacts.deleteMany(erased);
      await contacts.writeMany(
        found
          .filter(({ source }) => !(source as Tombstone).erased)
          .map((before) => {
            const { abandoned_at, record_order } = before.source as Tombstone;
            return {
              id: before.id,
              routing: before.routing,
              before,
              json: () => JSON.stringify({ abandoned_at, record_order }),
            };
          }),
      );
    }
    await deletedMarks.end(() => lastOperations(cluster, names.alias('contacts')));
  } finally {
    await lock.release();
  }
}
