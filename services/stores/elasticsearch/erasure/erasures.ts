/**
 * Erasures, without a clock, a pause or a list in memory. The journal comes first; then the list of hashes; then what a search finds, after
 * a refresh. A writer asks the list by id, which finds what was acknowledged, before its write and again after it: either its write was
 * there when the erasure searched, or it finds the hashes and takes back what it wrote. So do creations, and outcomes that are kept.
 */
import type { estypes } from '@elastic/elasticsearch';
import {
  type HeldIdentifier,
  identifiersOfErasure,
  MAX_RELATED,
  planErasure,
} from '../../../contacts/erasure-plan.js';
import {
  type EraseCommand,
  type ErasureProof,
  type ErasureResult,
  type ErasureSearch,
  pendingProof,
} from '../../../contacts/erasure-store.js';
import { type Identifier, uniqueIdentifiers } from '../../../contacts/suppression.js';
import type { Page } from '../../../search/query.js';
import { fromJson, type Json, toJson } from '../../../shared/json.js';
import { type Clock, DAY_MS, formatTimestamp } from '../../../shared/time.js';
import type { ContactKey, RecordCopy } from '../../common/record-copy.js';
import type { Cluster } from '../client.js';
import type { ContactDocuments } from '../contacts/creations.js';
import {
  type ContactSource,
  type IndexedContact,
  isTombstone,
  parseContactSource,
} from '../contacts/mapping.js';
import { contactQuery } from '../contacts/search.js';
import { deleteContacts } from '../contacts/writes.js';
import { type Documents, documentId } from '../documents.js';
import type { IdempotencyKeys } from '../idempotency.js';
import type { IndexNames } from '../migrations/indices.js';
import { acquireReindexLock } from '../migrations/reindex-lock.js';
import { fetchPage, searchAfter } from '../pages.js';
import type { ErasureSource, SuppressionList } from './suppression.js';

/** A thousand contacts may have many thousand identifiers. */
const CONCURRENT_SEARCHES = 16;
const ERASURES_PER_RUN = 1000;
const EXPUNGE_ID = 'expunge';
const ORDER: estypes.SortCombinations[] = [{ requested_at: 'asc' }, { proof_id: 'asc' }];
/** Indices that held documents of erased persons. */
const MERGED_RESOURCES = ['contacts', 'idempotency'] as const;

/** Null where there is none; undefined before it is opened, and in a process that does not open it: no erasure ends there. */
export type CopyToErase = () => RecordCopy | null | undefined;

interface ErasureDeps {
  cluster: Cluster;
  names: IndexNames;
  documents: Documents<ErasureSource>;
  suppression: SuppressionList;
  contacts: ContactDocuments;
  idempotencyKeys: IdempotencyKeys;
  clock: Clock;
  /** By default none. */
  copy?: CopyToErase;
  /** By default a day. */
  expungeIntervalMs?: number;
}

export class Erasures {
  readonly #deps: ErasureDeps;
  readonly #documents: Documents<ErasureSource>;
  /** The shards when this process began to wait until merges drop what was deleted before. */
  #flushed: { at: number; states: ReadonlyMap<string, ShardState> } | undefined;
  /** Ids of erasures whose contacts this process has hidden in a copy, which is known by its beginning. */
  #hidden: { beganAt: number | null; ids: Set<string> } = { beganAt: null, ids: new Set() };

  constructor(deps: ErasureDeps) {
    this.#deps = deps;
    this.#documents = deps.documents;
  }

  /** Where the process dies, the recovery job of another finishes. */
  async erase(command: EraseCommand): Promise<ErasureResult> {
    const { organizationId, proofId, contactIds, named } = command;
    const now = this.#deps.clock.now();
    const found = await this.#people(organizationId, contactIds);
    const namedHashes = await this.#deps.suppression.hashesOf(organizationId, named);
    const namedIds = named.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []));
    const removed = { contacts: 0, memberships: 0, idempotency_answers: 0, dead_letters: 0 };
    const source: ErasureSource = {
      organization_id: organizationId,
      requested_at: now,
      proof_id: proofId,
      pending: true,
      contact_ids: [...new Set([...contactIds, ...namedIds])],
      proof: pendingProof(command, { hashes: namedHashes, removed }, now),
    };
    const id = documentId(organizationId, proofId);
    await this.#documents.create(id, source, { refresh: 'wait_for' });
    const { people, hashes, related, identifiers } = await this.#suppress(source, found, named);
    removed.contacts = people.length;
    removed.memberships = people.reduce((sum, { audienceIds }) => sum + audienceIds.length, 0);
    removed.idempotency_answers = await this.#deps.idempotencyKeys.forgetOutcomes(
      organizationId,
      identifiers,
    );
    const proof = pendingProof(command, { hashes, removed }, now);
    const erased = people.map(({ body }) => body.contact_id);
    const contact_ids = [...new Set([...(source.contact_ids ?? []), ...erased])];
    // Pending again where the recovery job was faster.
    await this.#documents.update(id, ({ deleted_at: _, ...journal }) => ({
      ...journal,
      pending: true,
      contact_ids,
      proof,
    }));
    await this.#hideAtOnce(organizationId, contact_ids);
    return { erased, related, proof };
  }

  /** Where ClickHouse does not answer, the recovery job hides them. */
  async #hideAtOnce(organizationId: string, contactIds: readonly string[]): Promise<void> {
    const contacts = contactIds.map((contactId) => ({ organizationId, contactId }));
    await this.#deps
      .copy?.()
      ?.hide(contacts)
      .catch(() => undefined);
  }

  /** Suppresses the persons of a journaled erasure, and deletes their contacts, also those that were written meanwhile. */
  async #suppress(
    { organization_id: organizationId = '', requested_at = 0 }: ErasureSource,
    found: readonly IndexedContact[],
    named: readonly Identifier[],
  ) {
    const { contacts, suppression } = this.#deps;
    await contacts.refresh();
    const people = [...found];
    const identifiers = identifiersOfErasure(
      named,
      people.map(({ body }) => body),
    );
    const erasing = await this.#idsOfPending(organizationId);
    const { suppressed, related } = planErasure(await this.#holders(organizationId, identifiers, erasing));
    const hashes = await suppression.hashesOf(organizationId, suppressed);
    await suppression.add(organizationId, hashes);
    await contacts.refresh();
    const late = await this.#holders(organizationId, suppressed, erasing);
    people.push(
      ...(await this.#people(organizationId, [...new Set(late.flatMap(({ holderIds }) => holderIds))])),
    );
    const erased = people.map(({ body }) => body.contact_id);
    await deleteContacts(contacts, organizationId, erased, requested_at);
    return { people, hashes, related, identifiers };
  }

  /** Of each identifier the contacts that have it, without those that are left out. */
  async #holders(
    organizationId: string,
    identifiers: readonly Identifier[],
    without: ReadonlySet<string>,
  ): Promise<HeldIdentifier[]> {
    const held: HeldIdentifier[] = [];
    for (let start = 0; start < identifiers.length; start += CONCURRENT_SEARCHES) {
      const searches = identifiers.slice(start, start + CONCURRENT_SEARCHES).map(async (identifier) => {
        const ids = await this.#holdersOf(organizationId, identifier);
        return { identifier, holderIds: ids.filter((id) => !without.has(id)) };
      });
      held.push(...(await Promise.all(searches)));
    }
    return held;
  }

  /** The contacts of all erasures that are not finished. */
  async #idsOfPending(organizationId: string): Promise<Set<string>> {
    const ids = new Set<string>();
    const pages = this.#documents.pages({
      size: ERASURES_PER_RUN,
      query: {
        bool: { filter: [{ term: { organization_id: organizationId } }, { term: { pending: true } }] },
      },
      sort: ORDER,
    });
    for await (const hits of pages) {
      for (const { _source } of hits) for (const id of _source?.contact_ids ?? []) ids.add(id);
    }
    return ids;
  }

  async list({ organizationId, limit, after }: ErasureSearch): Promise<Page<Json<ErasureProof>>> {
    const filter = [{ term: { organization_id: organizationId } }, { exists: { field: 'proof_id' } }];
    const { result } = await fetchPage<ErasureSource, ErasureProof>(
      {
        query: { bool: { filter } },
        sort: ORDER,
        search_after: searchAfter(after, null),
      },
      { limit, bestScore: null, toJson: ({ proof }) => toJson(proof as ErasureProof) },
      (request) => this.#documents.search(request),
    );
    return result;
  }

  /**
   * Finishes the oldest erasures that are not complete; the next run goes on. Once a day one merge takes the bytes of all of them out of the
   * segments; merges that Elasticsearch makes by itself take most of them out before.
   */
  async complete(): Promise<void> {
    const { hits } = (
      await this.#documents.search({
        size: ERASURES_PER_RUN,
        query: { term: { pending: true } },
        sort: ORDER,
      })
    ).hits;
    const pending = hits.map(({ _id, _source }) => ({ id: _id as string, source: _source as ErasureSource }));
    const copy = this.#deps.copy?.();
    if (copy && pending.length > 0) await this.#hideCopies(copy, pending);
    const undeleted = pending.filter(({ source }) => source.deleted_at === undefined);
    if (undeleted.length > 0) await this.#deleteDocuments(undeleted);
    else if (pending.length > 0) await this.#expunge(pending);
  }

  /** Deletes the documents of contacts, and first what a process that died left of them. Does nothing during a reindex. */
  async #deleteDocuments(erasures: readonly PendingErasure[]): Promise<void> {
    const { cluster, names, contacts, clock } = this.#deps;
    const lock = await acquireReindexLock(cluster, names, clock);
    if (!lock) return;
    try {
      for (const { id, source } of erasures) {
        const { organization_id = '', contact_ids = [] } = source;
        const proof = await this.#finish(source);
        const wanted = contact_ids.map((each) => ({
          id: documentId(organization_id, each),
          routing: organization_id,
        }));
        const found = [...(await contacts.getMany(wanted)).values()];
        lock.throwIfLost();
        const deleted = await contacts.deleteVersions(
          found.map((each) => ({ ...each, routing: organization_id })),
        );
        // A document that was written meanwhile is deleted by the next run.
        if (deleted < found.length) return;
        // The process that erases writes its journal once more; then this is done again.
        const deleted_at = clock.now();
        await this.#documents.update(id, (journal) =>
          JSON.stringify(journal) === JSON.stringify(source) ? { ...journal, proof, deleted_at } : journal,
        );
      }
    } finally {
      await lock.release();
    }
  }

  /** What the process that began may not have done any more. Resolves with the proof. */
  async #finish(source: ErasureSource): Promise<ErasureProof> {
    const { suppression, idempotencyKeys } = this.#deps;
    const { organization_id = '', contact_ids = [] } = source;
    const proof = source.proof as ErasureProof;
    await suppression.add(organization_id, proof.hashes);
    const left = await this.#people(organization_id, contact_ids);
    const ids = contact_ids.map((value): Identifier => ({ kind: 'id', value }));
    const { people, hashes, identifiers } =
      left.length > 0 ? await this.#suppress(source, left, []) : { people: [], hashes: [], identifiers: [] };
    const removed = { ...proof.removed };
    removed.contacts += people.length;
    removed.memberships += people.reduce((sum, { audienceIds }) => sum + audienceIds.length, 0);
    removed.idempotency_answers += await idempotencyKeys.forgetOutcomes(
      organization_id,
      uniqueIdentifiers([...ids, ...identifiers]),
    );
    return { ...proof, hashes: [...new Set([...proof.hashes, ...hashes])].sort(), removed };
  }

  /** Starts the merge of the day, or completes the erasures that an ended one covers. */
  async #expunge(erasures: readonly PendingErasure[]): Promise<void> {
    const { cluster, clock, expungeIntervalMs = DAY_MS } = this.#deps;
    const index = MERGED_RESOURCES.map((resource) => this.#deps.names.alias(resource)).join(',');
    const { started_at: startedAt = 0, task } = (await this.#documents.get(EXPUNGE_ID))?.source ?? {};
    if (task !== undefined) {
      const isMerged = await hasEnded(cluster, task);
      if (isMerged === undefined) return;
      if (isMerged && (await areAllCopiesCommitted(cluster, index))) {
        const covered = erasures.filter(({ source }) => (source.deleted_at ?? startedAt) < startedAt);
        // The next run tries again.
        const copy = this.#deps.copy?.();
        if (copy === undefined && this.#deps.copy) return;
        if (copy && !(await copy.isFreeOf(covered.flatMap(({ source }) => contactsOf(source))))) return;
        for (const { id } of covered) await this.#completeProof(id);
      }
      await this.#documents.update(EXPUNGE_ID, ({ task: _, ...rest }) => rest);
      return;
    }
    if (clock.now() - startedAt < expungeIntervalMs) return;
    const states = await flush(cluster, index);
    this.#flushed ??= { at: clock.now(), states };
    if (!areDroppedByMerges(this.#flushed.states, states)) return;
    const started = { started_at: this.#flushed.at, task: await startExpunge(cluster, index) };
    this.#flushed = undefined;
    const isNew = await this.#documents.create(EXPUNGE_ID, started, { refresh: false });
    if (!isNew) await this.#documents.update(EXPUNGE_ID, () => started);
  }

  #completeProof(id: string): Promise<void> {
    const completed_at = formatTimestamp(this.#deps.clock.now());
    return this.#documents.update(id, ({ contact_ids: _, proof, ...rest }) => ({
      ...rest,
      pending: false,
      proof: { ...(proof as ErasureProof), completed_at },
    }));
  }

  /** Makes the contacts of erasures unreadable in the copy, once in each. */
  async #hideCopies(copy: RecordCopy, erasures: readonly PendingErasure[]): Promise<void> {
    const beganAt = await copy.beganAt();
    if (this.#hidden.beganAt !== beganAt) this.#hidden = { beganAt, ids: new Set() };
    const { ids } = this.#hidden;
    const fresh = erasures.filter(({ id }) => !ids.has(id));
    await copy.hide(fresh.flatMap(({ source }) => contactsOf(source)));
    for (const { id } of fresh) ids.add(id);
  }

  /** Contacts of the erasures whose proof is not complete. */
  async *erasedContacts(): AsyncGenerator<ContactKey[]> {
    await this.#documents.refresh();
    const query = { term: { pending: true } };
    for await (const hits of this.#documents.pages({ size: ERASURES_PER_RUN, query, sort: ORDER }))
      yield hits.flatMap(({ _source }) => contactsOf(_source as ErasureSource));
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

  /** Ids of the contacts that have the identifier. */
  async #holdersOf(organizationId: string, { kind, value }: Identifier): Promise<string[]> {
    const { contacts } = this.#deps;
    if (kind === 'id') {
      const found = await contacts.get(documentId(organizationId, value), organizationId);
      return found && !isTombstone(found.source) ? [value] : [];
    }
    const filter =
      kind === 'email'
        ? ({ kind, email: value } as const)
        : ({ kind: 'value', field: 'network_a_url', value } as const);
    const { request } = contactQuery({ organizationId, filters: [filter], limit: MAX_RELATED });
    const { hits } = await contacts.search({ ...request, size: MAX_RELATED });
    return hits.hits.map(({ _source }) => fromJson((_source as ContactSource).contact).contact_id);
  }
}

const contactsOf = ({
  organization_id: organizationId = '',
  contact_ids = [],
}: ErasureSource): ContactKey[] => contact_ids.map((contactId) => ({ organizationId, contactId }));

interface PendingErasure {
  id: string;
  source: ErasureSource;
}

interface ShardState {
  /** Sequence number of the last operation. */
  last: number;
  /** From this sequence number on, merges keep deleted documents, for replicas: up to half a minute. */
  retainedFrom: number;
}

/** Writes everything to segments, which ends the transaction log. Resolves with the state by index and shard. */
async function flush(cluster: Cluster, index: string): Promise<ReadonlyMap<string, ShardState>> {
  await cluster.run(async (client) => {
    await client.indices.refresh({ index });
    await client.indices.flush({ index, force: true, wait_if_ongoing: true });
  });
  const { indices = {} } = await cluster.run((client) => client.indices.stats({ index, level: 'shards' }));
  const states = new Map<string, ShardState>();
  for (const [name, { shards = {} }] of Object.entries(indices)) {
    for (const [shard, copies] of Object.entries(shards)) {
      states.set(`${name}/${shard}`, {
        last: Math.max(...copies.map(({ seq_no }) => seq_no?.max_seq_no ?? Number.POSITIVE_INFINITY)),
        retainedFrom: Math.min(
          ...copies.map(({ commit }) => Number(commit?.user_data?.min_retained_seq_no ?? 0)),
        ),
      });
    }
  }
  return states;
}

/** Whether merges drop the documents that were deleted before. An index that is gone was replaced by one without it. */
const areDroppedByMerges = (
  deletedUpTo: ReadonlyMap<string, ShardState>,
  now: ReadonlyMap<string, ShardState>,
): boolean =>
  [...deletedUpTo].every(
    ([shard, { last }]) => (now.get(shard)?.retainedFrom ?? Number.POSITIVE_INFINITY) > last,
  );

/** Resolves with the id of the task that merges the segments with deleted documents. */
async function startExpunge(cluster: Cluster, index: string): Promise<string> {
  const { task } = await cluster.run(async (client) => {
    // By default segments with less than a tenth of deleted documents stay.
    await client.indices.putSettings({
      index,
      settings: { 'index.merge.policy.expunge_deletes_allowed': 0 },
    });
    return client.indices.forcemerge({ index, only_expunge_deletes: true, wait_for_completion: false });
  });
  return task as string;
}

/** Whether the task succeeded; undefined while it runs. A node that was restarted knows it no more. */
async function hasEnded(cluster: Cluster, task: string): Promise<boolean | undefined> {
  const status = await cluster.run((client) => client.tasks.get({ task_id: task }, { ignore: [404] }));
  if (status.completed === false) return undefined;
  const { _shards: shards } = (status.response ?? {}) as { _shards?: { failed: number } };
  return status.completed === true && status.error === undefined && shards?.failed === 0;
}

/** Commits what was merged. False while a copy of a shard is away: its segments were not merged. */
async function areAllCopiesCommitted(cluster: Cluster, index: string): Promise<boolean> {
  return cluster.run(async (client) => {
    // The files of a commit go with the second one after it.
    await client.indices.flush({ index, force: true, wait_if_ongoing: true });
    const { _shards: shards } = await client.indices.flush({ index, force: true, wait_if_ongoing: true });
    return shards?.total === shards?.successful;
  });
}
