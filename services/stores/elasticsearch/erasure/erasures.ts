/**
 * Erasures, without a clock, a pause or a list in memory. The journal comes first; then the list of hashes; then what a search finds, after
 * a refresh. A writer asks the list by id, which finds what was acknowledged, before its write and again after it: either its write was
 * there when the erasure searched, or it finds the hashes and takes back what it wrote. So do creations, and outcomes that are kept.
 */
import type { estypes } from '@elastic/elasticsearch';
import {
  foundIdentifiers,
  type HeldIdentifier,
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
import type { ContactDocuments } from '../contacts/documents.js';
import {
  type ContactSource,
  type IndexedContact,
  isTombstone,
  parseContactSource,
} from '../contacts/mapping.js';
import { deleteContacts } from '../contacts/records.js';
import { contactQuery } from '../contacts/search.js';
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

/** A thousand contacts may have many thousand identifiers. */
const CONCURRENT_SEARCHES = 16;
const ERASURES_PER_RUN = 1000;
const ORDER: estypes.SortCombinations[] = [{ requested_at: 'asc' }, { proof_id: 'asc' }];
/** Indices that held documents of erased persons. */
const EXPUNGED_RESOURCES = ['contacts', 'idempotency', 'rejections'] as const;
const EXPUNGE_ID = 'expunge';
const NOTHING = { contacts: 0, memberships: 0, idempotency_answers: 0, rejections: 0 };
/** Contacts that one search for the holders of a named identifier finds. */
const HOLDERS_PER_SEARCH = 1000;
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
}

export class Erasures {
  readonly #deps: ErasureDeps;
  readonly #documents: Documents<ErasureSource>;
  /** Ids of erasures whose contacts this process has hidden in a copy, which is known by its beginning. */
  #hidden: { beganAt: number | null; ids: Set<string> } = { beganAt: null, ids: new Set() };

  constructor(deps: ErasureDeps) {
    this.#deps = deps;
    this.#documents = deps.documents;
  }

  /** Where the process dies, the recovery job of another finishes. */
  async erase(command: EraseCommand): Promise<ErasureResult> {
    const { organizationId, proofId, named } = command;
    const { suppression, contacts, clock } = this.#deps;
    const now = clock.now();
    // First of all: whoever writes one of them from now on sees it, and what was written before is found.
    const hashes = await suppression.hashesOf(organizationId, named);
    await suppression.add(organizationId, hashes);
    await contacts.refresh();
    const namedIds = named.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []));
    const contactIds = [...namedIds, ...(await this.#idsOfNamed(organizationId, named))];
    // Before the journal, as the recovery job may be faster then.
    const found = await this.#people(organizationId, [...new Set(contactIds)]);
    const journal: ErasureSource = {
      organization_id: organizationId,
      requested_at: now,
      proof_id: proofId,
      pending: true,
      contact_ids: [...new Set(contactIds)],
      proof: pendingProof(command, { hashes, removed: NOTHING }, now),
    };
    const id = documentId(organizationId, proofId);
    await this.#documents.create(id, journal, { refresh: 'wait_for' });
    const { done, erased, related } = await this.#remove(journal, found, named);
    // Pending again where the recovery job was faster.
    await this.#documents.update(id, () => done);
    await this.#hideAtOnce(organizationId, done.contact_ids ?? []);
    return { erased, related, proof: done.proof as ErasureProof };
  }

  /** What a journaled erasure is to do, or what the process that began it has left. Resolves with the journal of what was done. */
  async #remove(journal: ErasureSource, found: readonly IndexedContact[], named: readonly Identifier[]) {
    const { suppression, idempotencyKeys, rejections } = this.#deps;
    const { organization_id: organizationId = '', contact_ids = [] } = journal;
    const proof = journal.proof as ErasureProof;
    await suppression.add(organizationId, proof.hashes);
    const { people, hashes, related, identifiers } =
      found.length + named.length > 0
        ? await this.#suppress(journal, found, named)
        : { people: [], hashes: [], related: [], identifiers: [] };
    const erased = people.map(({ body }) => body.contact_id);
    const ids = contact_ids.map((value): Identifier => ({ kind: 'id', value }));
    const removed = { ...proof.removed };
    removed.contacts += people.length;
    removed.memberships += people.reduce((sum, { audienceIds }) => sum + audienceIds.length, 0);
    removed.idempotency_answers += await idempotencyKeys.forgetOutcomes(
      organizationId,
      uniqueIdentifiers([...ids, ...identifiers]),
    );
    removed.rejections += await eraseRejections(
      rejections,
      organizationId,
      new Set([...contact_ids, ...erased]),
    );
    const done: ErasureSource = {
      ...journal,
      contact_ids: [...new Set([...contact_ids, ...erased])],
      proof: { ...proof, hashes: [...new Set([...proof.hashes, ...hashes])].sort(), removed },
    };
    return { done, erased, related };
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
    const identifiers = uniqueIdentifiers(people.flatMap(({ body }) => foundIdentifiers(named, body)));
    // Of all erasures that are not finished.
    const erasing = new Set<string>();
    for await (const journals of this.#journals([
      ...PENDING,
      { term: { organization_id: organizationId } },
    ])) {
      for (const { source } of journals) for (const id of source.contact_ids ?? []) erasing.add(id);
    }
    const { suppressed, related } = planErasure(
      await this.#holders(organizationId, identifiers, erasing, named),
    );
    const hashes = await suppression.hashesOf(organizationId, suppressed);
    await suppression.add(organizationId, hashes);
    await contacts.refresh();
    const late = await this.#holders(organizationId, [...named, ...suppressed], erasing);
    people.push(
      ...(await this.#people(organizationId, [...new Set(late.flatMap(({ holderIds }) => holderIds))])),
    );
    const erased = people.map(({ body }) => body.contact_id);
    await deleteContacts(contacts, organizationId, erased, requested_at);
    return { people, hashes, related, identifiers: [...named, ...identifiers] };
  }

  /** Of each identifier the contacts that have it, without those that are left out and those that have one of `notWith`. */
  async #holders(
    organizationId: string,
    identifiers: readonly Identifier[],
    without: ReadonlySet<string>,
    notWith: readonly Identifier[] = [],
  ): Promise<HeldIdentifier[]> {
    const held: HeldIdentifier[] = [];
    for (let start = 0; start < identifiers.length; start += CONCURRENT_SEARCHES) {
      const searches = identifiers.slice(start, start + CONCURRENT_SEARCHES).map(async (identifier) => {
        const ids = await this.#holdersOf(organizationId, identifier, notWith);
        return { identifier, holderIds: ids.filter((id) => !without.has(id)) };
      });
      held.push(...(await Promise.all(searches)));
    }
    return held;
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
    const isOverdue = { range: { requested_at: { lt: clock.now() - takeoverMs } } };
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
      for (const journal of hits.map(versionOfHit)) {
        const { organization_id: routing = '' } = journal.source;
        const left = await this.#people(routing, journal.source.contact_ids ?? []);
        const { done } = await this.#remove(journal.source, left, []);
        const { contact_ids = [] } = done;
        const tombstones = await contacts.getMany(
          contact_ids.map((id) => ({ id: documentId(routing, id), routing })),
        );
        lock.throwIfLost();
        const deleted = await contacts.deleteMany([...tombstones.values()]);
        // A document that was written meanwhile is deleted by the next run.
        if (deleted === tombstones.size) finished.push({ ...journal, source: done });
      }
      deletedUpTo = await lastOperations(cluster, this.#expungedIndices());
      lock.throwIfLost();
    } finally {
      await lock.release();
    }
    await this.#replaceJournals(finished, (source) => ({
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
        ({ contact_ids: _ids, deleted_up_to: _upTo, proof, ...rest }) => ({
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

  /** Ids of the contacts that have the identifier and none of `notWith`, which are left out before the limit. */
  async #holdersOf(
    organizationId: string,
    identifier: Identifier,
    notWith: readonly Identifier[],
  ): Promise<string[]> {
    const { contacts } = this.#deps;
    const { kind, value } = identifier;
    if (kind === 'id') {
      const found = await contacts.get(documentId(organizationId, value), organizationId);
      return found && !isTombstone(found.source) ? [value] : [];
    }
    return this.#search(organizationId, identifier, MAX_RELATED, notWith);
  }

  /** Ids of the contacts that have a named address. */
  async #idsOfNamed(organizationId: string, named: readonly Identifier[]): Promise<string[]> {
    const searches = named
      .filter(({ kind }) => kind !== 'id')
      .map((each) => this.#search(organizationId, each, HOLDERS_PER_SEARCH, []));
    return (await Promise.all(searches)).flat();
  }

  async #search(
    organizationId: string,
    identifier: Identifier,
    limit: number,
    notWith: readonly Identifier[],
  ): Promise<string[]> {
    const requestOf = ({ kind, value }: Identifier) =>
      contactQuery({
        organizationId,
        filters: [
          kind === 'email' ? { kind, email: value } : { kind: 'value', field: 'network_a_url', value },
        ],
        limit,
      }).request;
    const request = requestOf(identifier);
    const excluded = notWith
      .flatMap((each) => (each.kind === 'id' ? [] : [requestOf(each).query ?? []]))
      .flat();
    const query = { bool: { filter: request.query ? [request.query] : [], must_not: excluded } };
    const { hits } = await this.#deps.contacts.search({ ...request, query, size: limit });
    return hits.hits.map(({ _source }) => fromJson((_source as ContactSource).contact).contact_id);
  }
}

/** A proof of an earlier version counted dead letters, always none, and no rejections. */
const currentProof = ({ removed, ...proof }: ErasureProof): ErasureProof => {
  const { contacts, memberships, idempotency_answers, rejections = 0 } = removed;
  return { ...proof, removed: { contacts, memberships, idempotency_answers, rejections } };
};

const contactsOf = ({
  organization_id: organizationId = '',
  contact_ids = [],
}: ErasureSource): ContactKey[] => contact_ids.map((contactId) => ({ organizationId, contactId }));
