/**
 * Erasures in steps, without a clock, a pause or a lock. The journal comes first and says what is left, so that any process goes on; then
 * the list of hashes; then what a search finds, after a refresh, some contacts a step. A writer asks the list by id, which finds what was
 * acknowledged, before its write and again after it: either its write was there when the erasure searched, or it finds the hashes and
 * takes back what it wrote. So do creations, and outcomes that are kept. Writes of a process that died in between are found by a last
 * look, once no request of that time can be under way.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { estypes } from '@elastic/elasticsearch';
import {
  foundIdentifiers,
  type HeldIdentifier,
  MAX_RELATED,
  mergeRelated,
  planErasure,
} from '../../../contacts/erasure-plan.js';
import {
  ERASURE_WAIT_MS,
  type EraseCommand,
  type ErasureProof,
  type ErasureResult,
  type ErasureSearch,
  pendingProof,
  type RemovedCounts,
} from '../../../contacts/erasure-store.js';
import { type Identifier, uniqueIdentifiers } from '../../../contacts/suppression.js';
import type { Page } from '../../../search/query.js';
import { fromJson, type Json, toJson } from '../../../shared/json.js';
import { type Clock, DAY_MS, formatTimestamp } from '../../../shared/time.js';
import { type ContactKey, contactKey, type RecordCopy } from '../../common/record-copy.js';
import type { Cluster } from '../client.js';
import type { ContactDocuments } from '../contacts/documents.js';
import {
  type ContactSource,
  type IndexedContact,
  isTombstone,
  parseContactSource,
} from '../contacts/mapping.js';
import { deleteContacts } from '../contacts/records.js';
import { addressClause } from '../contacts/search.js';
import { type Documents, documentId, type VersionedDocument, versionOfHit } from '../documents.js';
import type { IdempotencyKeys } from '../idempotency.js';
import type { IndexNames } from '../migrations/indices.js';
import { acquireReindexLock } from '../migrations/reindex-lock.js';
import { fetchPage, searchAfter, totalHits } from '../pages.js';
import { eraseRejections, type RejectionSource } from '../rejections.js';
import {
  forceMergeState,
  isDropped,
  lastOperations,
  prepareForceMerge,
  type ShardNumbers,
  startForceMerge,
} from './expunge.js';
import type { ErasureSource, SuppressionList } from './suppression.js';

/** Contacts that a step removes. */
const CONTACTS_PER_STEP = 100;
/** A contact may have a hundred identifiers. */
const IDENTIFIERS_PER_SEARCH = 100;
const CONCURRENT_SEARCHES = 16;
const ERASURES_PER_RUN = 1000;
const ORDER: estypes.SortCombinations[] = [{ requested_at: 'asc' }, { proof_id: 'asc' }];
/** Indices that held documents of erased persons; journals name them until then. */
const EXPUNGED_RESOURCES = ['contacts', 'idempotency', 'rejections', 'erasures'] as const;
const EXPUNGE_ID = 'expunge';
const NOTHING = { contacts: 0, memberships: 0, idempotency_answers: 0, rejections: 0 };
/** Between two looks whether a force merge would drop anything: each flushes. */
const EXPUNGE_CHECK_MS = 60_000;

/** Two processes at the same erasure would each count a part of what it removes. */
const TAKEOVER_MS = 60_000;

const PENDING = [{ term: { pending: true } }];
/** Nothing but bytes is left. */
const DELETED = [...PENDING, { exists: { field: 'deleted_at' } }];

type Journal = VersionedDocument<ErasureSource>;

/** Null where there is none; undefined before it is opened, and in a process that does not open it: no erasure ends there. */
export type CopyToErase = () => RecordCopy | null | undefined;

interface ErasureDeps {
  cluster: Cluster;
  names: IndexNames;
  documents: Documents<ErasureSource>;
  suppression: SuppressionList;
  contacts: ContactDocuments;
  rejections: Documents<RejectionSource>;
  idempotencyKeys: IdempotencyKeys;
  clock: Clock;
  /** By default none. */
  copy?: CopyToErase;
  /** After it the process that began an erasure is taken for dead; longer than a request by default. */
  takeoverMs?: number;
  /** Between two force merges; a day by default. */
  expungeIntervalMs?: number;
  /** Awaited before each step; where it throws, the erasure stops there until a process goes on. */
  beforeStep?(): Promise<void>;
}

/** What one step removed: nothing once no contact of the person is left. */
interface Step {
  erased: readonly string[];
  related: readonly string[];
}

type TraceCounts = Pick<RemovedCounts, 'idempotency_answers' | 'rejections'>;

const NO_STEP: Step = { erased: [], related: [] };

export class Erasures {
  readonly #deps: ErasureDeps;
  readonly #documents: Documents<ErasureSource>;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Ids of erasures whose contacts this process has hidden in a copy, which is known by its beginning. */
  #hidden: { beganAt: number | null; ids: Set<string> } = { beganAt: null, ids: new Set() };

  constructor(deps: ErasureDeps) {
    this.#deps = deps;
    this.#documents = deps.documents;
  }

  /** Goes on after the answer where it takes longer than a request waits; where the process dies, the recovery job of another does. */
  async erase(command: EraseCommand): Promise<ErasureResult> {
    const { organizationId, proofId, named } = command;
    const { suppression, clock } = this.#deps;
    const now = clock.now();
    const hashes = await suppression.hashesOf(organizationId, named);
    const id = documentId(organizationId, proofId);
    const journal: ErasureSource = {
      organization_id: organizationId,
      requested_at: now,
      proof_id: proofId,
      pending: true,
      contact_ids: [],
      work: { named, stepped_at: now },
      proof: pendingProof(command, { hashes, removed: NOTHING }, now),
    };
    await this.#documents.create(id, journal, { refresh: 'wait_for' });
    const erased: string[] = [];
    let related: string[] = [];
    const removal = this.#removeAll(id, (step) => {
      erased.push(...step.erased);
      related = mergeRelated([...related, ...step.related]);
    });
    const running = removal.catch(() => undefined).finally(() => this.#running.delete(running));
    this.#running.add(running);
    await within(removal, ERASURE_WAIT_MS.removal);
    const source = (await this.#documents.get(id))?.source ?? journal;
    await this.#hideAtOnce(source);
    return {
      // Another process may have done some of the steps.
      erased: [...new Set([...erased, ...(source.contact_ids ?? [])])],
      related,
      proof: source.proof as ErasureProof,
    };
  }

  /** Ends between two steps what still runs. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  /** Resolves once no contact of the person is left. Several processes may do it at once. */
  async #removeAll(id: string, onStep: (step: Step) => void = () => undefined): Promise<void> {
    const { suppression } = this.#deps;
    const source = (await this.#documents.get(id))?.source;
    if (!source) return;
    await suppression.add(source.organization_id ?? '', (source.proof as ErasureProof).hashes);
    // What an earlier process had found and not removed.
    let marked = source.contact_ids ?? [];
    for (let isLeft = true; isLeft; ) {
      this.#closing.signal.throwIfAborted();
      await this.#deps.beforeStep?.();
      const step = await this.#step(id, marked);
      onStep(step);
      marked = [];
      isLeft = step.erased.length > 0;
    }
    // Lists of proofs are searches: they show what the steps changed from here on.
    await this.#documents.refresh();
  }

  /** Marks some contacts, suppresses what else they have, and removes them with what is kept of them. A repeated step does no harm. */
  async #step(id: string, marked: readonly string[]): Promise<Step> {
    const { contacts, suppression } = this.#deps;
    const journal = (await this.#documents.get(id))?.source;
    if (!journal) return NO_STEP;
    const { organization_id: organizationId = '', requested_at = 0 } = journal;
    const named = journal.work?.named ?? [];
    await contacts.refresh();
    const people = await this.#peopleOf(organizationId, named, marked);
    const erased = people.map(({ body }) => body.contact_id);
    const identifiers = uniqueIdentifiers(people.flatMap(({ body }) => foundIdentifiers(named, body)));
    if (people.length > 0) await this.#mark(id, people);
    const { suppressed, related } = planErasure(await this.#held(organizationId, named, identifiers));
    const hashes = await suppression.hashesOf(organizationId, suppressed);
    await suppression.add(organizationId, hashes);
    const counts = await this.#removeTraces(organizationId, [...named, ...identifiers], erased);
    await deleteContacts(contacts, organizationId, erased, requested_at);
    await this.#documents.update(
      id,
      (source) => ({ ...source, proof: withStep(source.proof as ErasureProof, hashes, counts) }),
      { refresh: false },
    );
    return { erased, related };
  }

  /** Some contacts that have a named identifier, and those that are marked. */
  async #peopleOf(
    organizationId: string,
    named: readonly Identifier[],
    marked: readonly string[],
  ): Promise<IndexedContact[]> {
    const ids = [...marked, ...named.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []))];
    const addresses = named.filter(({ kind }) => kind !== 'id');
    if (addresses.length > 0)
      ids.push(...(await this.#search(organizationId, addresses, { limit: CONTACTS_PER_STEP })));
    return (await this.#people(organizationId, [...new Set(ids)])).slice(0, CONTACTS_PER_STEP);
  }

  /** Notes what is about to be removed, once, and counts it: erasures of the same persons at the same time know of each other. */
  async #mark(id: string, people: readonly IndexedContact[]): Promise<void> {
    const { clock } = this.#deps;
    await this.#documents.update(
      id,
      (source) => {
        const { contact_ids = [], work } = source;
        const proof = source.proof as ErasureProof;
        const known = new Set(contact_ids);
        const fresh = people.filter(({ body }) => !known.has(body.contact_id));
        const removed = { ...proof.removed };
        removed.contacts += fresh.length;
        removed.memberships += fresh.reduce((sum, { audienceIds }) => sum + audienceIds.length, 0);
        return {
          ...source,
          contact_ids: [...contact_ids, ...fresh.map(({ body }) => body.contact_id)],
          work: { named: work?.named ?? [], stepped_at: clock.now() },
          proof: { ...proof, removed },
        };
      },
      { refresh: false },
    );
    await this.#documents.refresh();
  }

  /** Removes what is kept of a person elsewhere than in contacts. */
  async #removeTraces(
    organizationId: string,
    identifiers: readonly Identifier[],
    contactIds: readonly string[],
  ): Promise<TraceCounts> {
    const { idempotencyKeys, rejections } = this.#deps;
    const ids = [...contactIds, ...identifiers.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []))];
    return {
      idempotency_answers: await idempotencyKeys.forgetOutcomes(organizationId, identifiers),
      rejections: await eraseRejections(rejections, organizationId, new Set(ids)),
    };
  }

  /** Of each found identifier the contacts that have it and stay. */
  async #held(
    organizationId: string,
    named: readonly Identifier[],
    identifiers: readonly Identifier[],
  ): Promise<HeldIdentifier[]> {
    const without = new Set<string>();
    // Of all erasures that are not finished.
    const ofOrganization = [...PENDING, { term: { organization_id: organizationId } }];
    if (identifiers.length > 0) {
      for await (const journals of this.#journals(ofOrganization))
        for (const { source } of journals) for (const id of erasedIds(source)) without.add(id);
    }
    const stays = (some: readonly Identifier[], limit: number) =>
      this.#search(organizationId, some, { limit, notWith: named, without });
    const parts = [...chunks(identifiers, IDENTIFIERS_PER_SEARCH)];
    const held: HeldIdentifier[] = [];
    for (const group of chunks(parts, CONCURRENT_SEARCHES)) {
      const found = group.map(async (part) => {
        // Mostly nobody has any of them.
        if ((await stays(part, 1)).length === 0)
          return part.map((identifier) => ({ identifier, holderIds: [] }));
        const all: HeldIdentifier[] = [];
        for (const identifier of part)
          all.push({ identifier, holderIds: await stays([identifier], MAX_RELATED) });
        return all;
      });
      held.push(...(await Promise.all(found)).flat());
    }
    return held;
  }

  /** Where ClickHouse does not answer, the recovery job hides them. */
  async #hideAtOnce(source: ErasureSource): Promise<void> {
    await this.#deps
      .copy?.()
      ?.hide(contactsOf(source))
      .catch(() => undefined);
  }

  async list({ organizationId, limit, after }: ErasureSearch): Promise<Page<Json<ErasureProof>>> {
    const filter = [{ term: { organization_id: organizationId } }, { exists: { field: 'proof_id' } }];
    const { result } = await fetchPage<ErasureSource, ErasureProof>(
      {
        query: { bool: { filter } },
        sort: ORDER,
        search_after: searchAfter(after, null),
      },
      { limit, bestScore: null, toJson: ({ proof }) => toJson(currentProof(proof as ErasureProof)) },
      (request) => this.#documents.search(request),
    );
    return result;
  }

  /** One step towards the end of the erasures that are pending; the next run goes on. */
  async complete(): Promise<void> {
    await this.#hidePending();
    await this.#deleteFound();
    await this.#expunge();
  }

  /** Finishes the oldest erasures, and deletes their tombstones. Does nothing during a reindex, which does not see deletions. */
  async #deleteFound(): Promise<void> {
    const { cluster, names, contacts, clock, takeoverMs = TAKEOVER_MS } = this.#deps;
    const overdue = clock.now() - takeoverMs;
    const isOverdue = { range: { requested_at: { lt: overdue } } };
    const isNew = {
      bool: { filter: [...PENDING, isOverdue], must_not: { exists: { field: 'deleted_at' } } },
    };
    const request = { size: ERASURES_PER_RUN, seq_no_primary_term: true, query: isNew, sort: ORDER };
    const { hits } = (await this.#documents.search(request)).hits;
    if (hits.length === 0) return;
    const finished: Journal[] = [];
    let deletedUpTo: ShardNumbers;
    const lock = await acquireReindexLock(cluster, names, clock);
    if (!lock) return;
    try {
      for (const { id, source } of hits.map(versionOfHit)) {
        const { organization_id: routing = '', requested_at = 0, work } = source;
        // A process is at it.
        if ((work?.stepped_at ?? requested_at) >= overdue) continue;
        await this.#removeAll(id);
        const journal = await this.#documents.get(id);
        if (!journal) continue;
        const tombstones = await contacts.getMany(
          erasedIds(journal.source).map((contactId) => ({ id: documentId(routing, contactId), routing })),
        );
        lock.throwIfLost();
        const deleted = await contacts.deleteMany([...tombstones.values()]);
        // A document that was written meanwhile is deleted by the next run.
        if (deleted === tombstones.size) finished.push(journal);
      }
      // Their former versions name the persons, and are deleted by this.
      await this.#replaceJournals(finished, (before) => {
        const { work: _work, contact_ids: _ids, ...source } = before;
        return { ...source, copied: contactsOf(before).map(({ hash }) => hash) };
      });
      deletedUpTo = await lastOperations(cluster, this.#expungedIndices());
      lock.throwIfLost();
    } finally {
      await lock.release();
    }
    // Those that changed meanwhile are left to the next run.
    const nameless = [...(await this.#documents.getMany(finished)).values()].filter(
      ({ source }) => source.copied && !source.work && !source.contact_ids,
    );
    await this.#replaceJournals(nameless, (source) => ({
      ...source,
      deleted_at: clock.now(),
      deleted_up_to: deletedUpTo,
    }));
  }

  /** Starts a force merge where one is due; once it has ended, completes the erasures that it was for. */
  async #expunge(): Promise<void> {
    const { cluster, clock, expungeIntervalMs = DAY_MS } = this.#deps;
    const index = this.#expungedIndices();
    const found = await this.#documents.get(EXPUNGE_ID);
    const { next_at = 0, merge } = found?.source.expunge ?? {};
    if (found && merge) {
      const state = await forceMergeState(cluster, index, merge.task);
      if (state === 'running') return;
      if (state === 'done' && !(await this.#completeAll(merge.retainedFrom))) return;
      await this.#documents.replace(found, { expunge: { next_at } }, { refresh: false });
      return;
    }
    if (clock.now() < next_at || !(await this.#hasDeleted())) return;
    // Of several processes one goes on; where it dies, another does after the check interval.
    const checkMs = Math.min(EXPUNGE_CHECK_MS, expungeIntervalMs);
    const claim: ErasureSource = { expunge: { next_at: clock.now() + checkMs } };
    const claimed = found
      ? await this.#documents.replace(found, claim, { refresh: false })
      : await this.#documents.create(EXPUNGE_ID, claim, { refresh: false });
    if (!claimed) return;
    const retainedFrom = await prepareForceMerge(cluster, index);
    if (!retainedFrom || !(await this.#anyDropped(retainedFrom))) return;
    const task = await startForceMerge(cluster, index);
    const started = { next_at: clock.now() + expungeIntervalMs, merge: { task, retainedFrom } };
    await this.#documents.replace(claimed, { expunge: started }, { refresh: false });
  }

  /** False while a copy outside of Elasticsearch may hold bytes. */
  async #completeAll(retainedFrom: ShardNumbers): Promise<boolean> {
    const { clock } = this.#deps;
    for await (const journals of this.#journals(DELETED)) {
      const expunged = journals.filter(({ source }) => isDropped(source.deleted_up_to ?? {}, retainedFrom));
      if (!(await this.#isFreeOf(expunged))) return false;
      const completed_at = formatTimestamp(clock.now());
      await this.#replaceJournals(
        expunged,
        ({ copied: _copied, contact_ids: _ids, deleted_up_to: _upTo, proof, ...rest }) => ({
          ...rest,
          pending: false,
          proof: { ...(proof as ErasureProof), completed_at },
        }),
      );
    }
    return true;
  }

  async #anyDropped(retainedFrom: ShardNumbers): Promise<boolean> {
    for await (const journals of this.#journals(DELETED)) {
      if (journals.some(({ source }) => isDropped(source.deleted_up_to ?? {}, retainedFrom))) return true;
    }
    return false;
  }

  async #hasDeleted(): Promise<boolean> {
    return (
      totalHits((await this.#documents.search({ size: 0, query: { bool: { filter: DELETED } } })).hits) > 0
    );
  }

  /** Erasures, oldest first. */
  async *#journals(filter: estypes.QueryDslQueryContainer[]): AsyncGenerator<Journal[], void> {
    const query = { bool: { filter } };
    const request = { size: ERASURES_PER_RUN, seq_no_primary_term: true, query, sort: ORDER };
    for await (const hits of this.#documents.pages(request)) yield hits.map(versionOfHit);
  }

  /** Those that changed meanwhile are left to the next run. */
  async #replaceJournals(
    journals: readonly Journal[],
    change: (source: ErasureSource) => ErasureSource,
  ): Promise<void> {
    await this.#documents.writeMany(
      journals.map((before) => ({
        id: before.id,
        before,
        json: () => JSON.stringify(change(before.source)),
      })),
    );
  }

  #expungedIndices(): string {
    return EXPUNGED_RESOURCES.map((resource) => this.#deps.names.alias(resource)).join(',');
  }

  /** Makes the contacts of erasures that are pending unreadable in the copy, once in each. */
  async #hidePending(): Promise<void> {
    const copy = this.#deps.copy?.();
    if (!copy) return;
    for await (const journals of this.#journals(PENDING)) {
      if (journals.length === 0) return;
      const beganAt = await copy.beganAt();
      if (this.#hidden.beganAt !== beganAt) this.#hidden = { beganAt, ids: new Set() };
      const { ids } = this.#hidden;
      const fresh = journals.filter(({ id }) => !ids.has(id));
      await copy.hide(fresh.flatMap(({ source }) => contactsOf(source)));
      for (const { id } of fresh) ids.add(id);
    }
  }

  /** Whether no byte of the erased contacts is in the copy; false where this process does not know. */
  async #isFreeOf(erasures: readonly Journal[]): Promise<boolean> {
    if (!this.#deps.copy || erasures.length === 0) return true;
    const copy = this.#deps.copy();
    if (copy === undefined) return false;
    return copy === null || copy.isFreeOf(erasures.flatMap(({ source }) => contactsOf(source)));
  }

  /** Contacts of the erasures whose proof is not complete. */
  async *erasedContacts(): AsyncGenerator<ContactKey[]> {
    await this.#documents.refresh();
    for await (const journals of this.#journals(PENDING)) {
      yield journals.flatMap(({ source }) => contactsOf(source));
    }
  }

  /** The contacts that exist. */
  async #people(organizationId: string, contactIds: readonly string[]): Promise<IndexedContact[]> {
    const wanted = contactIds.map((id) => ({
      id: documentId(organizationId, id),
      routing: organizationId,
    }));
    const found = await this.#deps.contacts.getMany(wanted);
    return [...found.values()].flatMap(({ source }) =>
      isTombstone(source) ? [] : [parseContactSource(source)],
    );
  }

  /** Ids of contacts that have one of the addresses, and none of `notWith`, which are left out before the limit. */
  async #search(
    organizationId: string,
    identifiers: readonly Identifier[],
    {
      limit,
      notWith = [],
      without = new Set(),
    }: { limit: number; notWith?: readonly Identifier[]; without?: ReadonlySet<string> },
  ): Promise<string[]> {
    const should = addressClauses(identifiers);
    if (should.length === 0) return [];
    const ids = [...without, ...notWith.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []))];
    const query = {
      bool: {
        filter: [{ term: { organization_id: organizationId } }],
        should,
        minimum_should_match: 1,
        must_not: [
          ...addressClauses(notWith),
          { ids: { values: ids.map((id) => documentId(organizationId, id)) } },
        ],
      },
    };
    const { hits } = await this.#deps.contacts.search({
      ...{ routing: organizationId, size: limit, track_total_hits: false, query },
      sort: [{ contact_id: 'asc' }],
    });
    return hits.hits.map(({ _source }) => fromJson((_source as ContactSource).contact).contact_id);
  }
}

const addressClauses = (identifiers: readonly Identifier[]): estypes.QueryDslQueryContainer[] =>
  identifiers.flatMap(({ kind, value }) => (kind === 'id' ? [] : [addressClause(kind, value)]));

/** Resolves when the work is done, or when time is up. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const timer = new AbortController();
  const timeout = pause(ms, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
  await Promise.race([work, timeout]).finally(() => timer.abort());
}

function withStep(proof: ErasureProof, hashes: readonly string[], counts: TraceCounts): ErasureProof {
  const removed = { ...proof.removed };
  removed.idempotency_answers += counts.idempotency_answers;
  removed.rejections = (removed.rejections ?? 0) + counts.rejections;
  return { ...proof, hashes: [...new Set([...proof.hashes, ...hashes])].sort(), removed };
}

/** The contacts that an erasure names or has found. */
const erasedIds = ({ contact_ids = [], work }: ErasureSource): string[] => [
  ...new Set([
    ...contact_ids,
    ...(work?.named ?? []).flatMap(({ kind, value }) => (kind === 'id' ? [value] : [])),
  ]),
];

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** A proof of an earlier version counted dead letters, always none, and no rejections. */
const currentProof = ({ removed, ...proof }: ErasureProof): ErasureProof => {
  const { contacts, memberships, idempotency_answers, rejections = 0 } = removed;
  return { ...proof, removed: { contacts, memberships, idempotency_answers, rejections } };
};

/** For the copy in another store. */
const contactsOf = (source: ErasureSource): ContactKey[] => {
  const { organization_id: organizationId = '', copied = [] } = source;
  return [
    ...copied.map((hash) => ({ organizationId, hash })),
    ...erasedIds(source).map((contactId) => contactKey(organizationId, contactId)),
  ];
};
