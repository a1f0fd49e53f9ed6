/**
 * Erasures in steps, without a clock, a pause or a lock. The first step writes the journal, which records the remaining work, so that any
 * process can continue. The second step writes the hashes. Each further step removes some contacts that a search finds, after a refresh.
 * Every writer checks the hashes by id, which finds every acknowledged hash, before and after its write: either the search of the erasure
 * finds the write, or the writer finds the hashes and undoes its write. Creations and stored outcomes do the same. A process may die
 * between its write and its check. A last search finds such writes, once no request from that time can still be running
 * (`ErasureCompletion`).
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
  pendingProof,
  type RemovedCounts,
} from '../../../contacts/erasure-store.js';
import { TRACE_PLACES } from '../../../contacts/personal-data.js';
import { type Identifier, uniqueIdentifiers } from '../../../contacts/suppression.js';
import { fromJson } from '../../../shared/json.js';
import type { Clock } from '../../../shared/time.js';
import type { ContactDocuments } from '../contacts/documents.js';
import {
  type ContactSource,
  type IndexedContact,
  isTombstone,
  parseContactSource,
} from '../contacts/indexed-contact.js';
import { deleteContacts } from '../contacts/records.js';
import { addressClause } from '../contacts/search.js';
import { documentId } from '../documents.js';
import { type CopiesToErase, erasedIds, type JournalDocuments, journalPages, PENDING } from './journals.js';
import type { ErasureSource, SuppressionList } from './suppression.js';
import { removeTraces, type TraceCounts, type TraceStores } from './traces.js';

/** Number of contacts that a step removes. */
const CONTACTS_PER_STEP = 100;
/** Identifiers per search. A contact may have a hundred identifiers. */
const IDENTIFIERS_PER_SEARCH = 100;
const CONCURRENT_SEARCHES = 16;
const NOTHING: RemovedCounts = { contacts: 0, memberships: 0, idempotency_answers: 0, rejections: 0 };

export interface ErasureDeps extends TraceStores {
  documents: JournalDocuments;
  suppression: SuppressionList;
  contacts: ContactDocuments;
  clock: Clock;
  /** Copies of the contacts for SQL; by default, there are none. */
  copies?: CopiesToErase;
  /** Awaited before each step. If it throws, the erasure stops until a process continues it. */
  beforeStep?(): Promise<void>;
}

/** Result of one step. A step removes nothing if no contact of the person is left. */
interface Step {
  erased: readonly string[];
  related: readonly string[];
  /** Whether the step found a contact of the person, even if another process has removed the contact by now. */
  hasFound: boolean;
}

const NO_STEP: Step = { erased: [], related: [], hasFound: false };

export class Erasures {
  readonly #deps: ErasureDeps;
  readonly #documents: JournalDocuments;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(deps: ErasureDeps) {
    this.#deps = deps;
    this.#documents = deps.documents;
  }

  /**
   * Erases persons. The erasure continues after the response if it takes longer than a request waits. If the process dies, the recovery job
   * of another process continues the erasure.
   */
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
    const removal = this.removeAll(id, (step) => {
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

  /** Stops running work between two steps. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  /** Removes all contacts of an erasure, and resolves once none is left. Several processes may work on the same erasure at once. */
  async removeAll(id: string, onStep: (step: Step) => void = () => undefined): Promise<void> {
    const { suppression } = this.#deps;
    const source = (await this.#documents.get(id))?.source;
    if (!source) return;
    await suppression.add(source.organization_id ?? '', (source.proof as ErasureProof).hashes);
    // Contacts that an earlier process found but did not remove.
    const people = await this.#people(source.organization_id ?? '', source.contact_ids ?? []);
    let marked = people.map(({ body }) => body.contact_id);
    for (let isLeft = true; isLeft; ) {
      this.#closing.signal.throwIfAborted();
      await this.#deps.beforeStep?.();
      const step = await this.#step(id, marked.slice(0, CONTACTS_PER_STEP));
      onStep(step);
      marked = marked.slice(CONTACTS_PER_STEP);
      isLeft = step.hasFound || marked.length > 0;
    }
    // Makes the changes of the steps visible, because lists of proofs are searches.
    await this.#documents.refresh();
  }

  /** Marks some contacts, suppresses their other identifiers, and removes the contacts with all data about them. A step may be repeated. */
  async #step(id: string, marked: readonly string[]): Promise<Step> {
    const { contacts, suppression } = this.#deps;
    const journal = (await this.#documents.get(id))?.source;
    if (!journal) return NO_STEP;
    const { organization_id: organizationId = '', requested_at = 0 } = journal;
    const named = journal.work?.named ?? [];
    await contacts.refresh();
    const { people, hasFound } = await this.#peopleOf(organizationId, named, marked);
    const erased = people.map(({ body }) => body.contact_id);
    const identifiers = uniqueIdentifiers(people.flatMap(({ body }) => foundIdentifiers(named, body)));
    if (people.length > 0) await this.#mark(id, people);
    const { suppressed, related } = planErasure(await this.#held(organizationId, named, identifiers));
    const hashes = await suppression.hashesOf(organizationId, suppressed);
    await suppression.add(organizationId, hashes);
    const counts = await removeTraces(
      this.#deps,
      organizationId,
      uniqueIdentifiers([
        ...named,
        ...identifiers,
        ...erased.map((value) => ({ kind: 'id' as const, value })),
      ]),
    );
    await deleteContacts(contacts, organizationId, erased, requested_at);
    await this.#documents.update(
      id,
      (source) => ({ ...source, proof: withStep(source.proof as ErasureProof, hashes, counts) }),
      { refresh: false },
    );
    return { erased, related, hasFound };
  }

  /** Some contacts that have a named identifier, and the marked contacts. */
  async #peopleOf(
    organizationId: string,
    named: readonly Identifier[],
    marked: readonly string[],
  ): Promise<{ people: IndexedContact[]; hasFound: boolean }> {
    const ids = [...marked, ...named.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []))];
    const addresses = named.filter(({ kind }) => kind !== 'id');
    const found =
      addresses.length > 0 ? await this.#search(organizationId, addresses, { limit: CONTACTS_PER_STEP }) : [];
    const people = await this.#people(organizationId, [...new Set([...ids, ...found])]);
    return {
      people: people.slice(0, CONTACTS_PER_STEP),
      // Another process that works on the same erasure may remove all found contacts before this process reads them, and there may be more
      // contacts.
      hasFound: people.length + found.length > 0,
    };
  }

  /**
   * Records the contacts that will be removed, once, and counts these contacts, so that concurrent erasures of the same persons know of
   * each other.
   */
  async #mark(id: string, people: readonly IndexedContact[]): Promise<void> {
    const { clock } = this.#deps;
    await this.#documents.update(
      id,
      (source) => {
        const { contact_ids = [], work } = source;
        const proof = source.proof as ErasureProof;
        const counted = new Set(contact_ids);
        const fresh = people.filter(({ body }) => !counted.has(body.contact_id));
        const removed = { ...proof.removed };
        removed.contacts += fresh.length;
        removed.memberships += fresh.reduce((sum, { audienceIds }) => sum + audienceIds.length, 0);
        return {
          ...source,
          contact_ids: [...new Set([...contact_ids, ...fresh.map(({ body }) => body.contact_id)])],
          work: { named: work?.named ?? [], stepped_at: clock.now() },
          proof: { ...proof, removed },
        };
      },
      { refresh: false },
    );
    await this.#documents.refresh();
  }

  /** Finds, for each identifier, contacts that have it and stay. */
  async #held(
    organizationId: string,
    named: readonly Identifier[],
    identifiers: readonly Identifier[],
  ): Promise<HeldIdentifier[]> {
    const without = new Set<string>();
    // Contacts of all unfinished erasures.
    const ofOrganization = [...PENDING, { term: { organization_id: organizationId } }];
    if (identifiers.length > 0) {
      for await (const journals of journalPages(this.#documents, ofOrganization))
        for (const { source } of journals) for (const id of erasedIds(source)) without.add(id);
    }
    const stays = (some: readonly Identifier[], limit: number) =>
      this.#search(organizationId, some, { limit, notWith: named, without });
    const parts = [...chunks(identifiers, IDENTIFIERS_PER_SEARCH)];
    const held: HeldIdentifier[] = [];
    for (const group of chunks(parts, CONCURRENT_SEARCHES)) {
      const found = group.map(async (part) => {
        // First checks whether any contact has one of the identifiers, which is rare.
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

  /** Hides the contacts in SQL. If ClickHouse does not respond, the follower of the feed of changes removes them. */
  async #hideAtOnce(source: ErasureSource): Promise<void> {
    await this.#deps
      .copies?.()
      ?.hide(source.organization_id ?? '', erasedIds(source))
      .catch(() => undefined);
  }

  /** Reads the contacts that exist. */
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

  /**
   * Ids of contacts that have one of the addresses and none of `notWith`. The search excludes contacts of `notWith` before the limit
   * applies.
   */
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

/** Resolves when the work is done, or after `ms` milliseconds. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const timer = new AbortController();
  const timeout = pause(ms, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
  await Promise.race([work, timeout]).finally(() => timer.abort());
}

function withStep(proof: ErasureProof, hashes: readonly string[], counts: TraceCounts): ErasureProof {
  const removed = { ...proof.removed };
  for (const place of TRACE_PLACES) if (place !== 'deletions') removed[place] += counts[place];
  return { ...proof, hashes: [...new Set([...proof.hashes, ...hashes])].sort(), removed };
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
