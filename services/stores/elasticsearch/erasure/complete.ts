/**
 * The last part of erasures: searches once more for contacts, removes the tombstones and the bytes of deleted documents, and waits until
 * the copies for SQL were made again. Every process runs this part.
 */

import type { ErasureProof } from '../../../contacts/erasure-store.js';
import { PERSONAL_DATA } from '../../../contacts/personal-data.js';
import { type Clock, DAY_MS, formatTimestamp } from '../../../shared/time.js';
import type { Cluster } from '../client.js';
import type { ContactDocuments } from '../contacts/documents.js';
import { type ContactSource, markOf, type Tombstone } from '../contacts/indexed-contact.js';
import { documentId, type VersionedDocument, versionOfHit } from '../documents.js';
import type { IndexNames } from '../migrations/indices.js';
import { acquireReindexLock } from '../migrations/reindex-lock.js';
import { totalHits } from '../pages.js';
import { isCoveredBy, readShards } from '../shard-positions.js';
import type { DeletedMarks } from './deleted-marks.js';
import type { Erasures } from './erase.js';
import {
  forceMergeState,
  isDropped,
  lastOperations,
  prepareForceMerge,
  type ShardNumbers,
  startForceMerge,
} from './expunge.js';
import {
  type CopiesToErase,
  DELETED,
  erasedIds,
  type Journal,
  type JournalDocuments,
  journalPages,
  journalSearch,
  PENDING,
  replaceJournals,
} from './journals.js';
import type { ErasureSource } from './suppression.js';

/** Indices that hold documents of persons. */
const EXPUNGED_RESOURCES = Object.values(PERSONAL_DATA).flatMap((place) =>
  'elasticsearch' in place ? [...place.elasticsearch] : [],
);
const EXPUNGE_ID = 'expunge';
/** Pause between two checks whether a force merge is due. Each check flushes. */
const EXPUNGE_CHECK_MS = 60_000;

/**
 * Milliseconds after which another process takes over an erasure. If two processes worked on the same erasure, each would count only a part
 * of the removed contacts.
 */
const TAKEOVER_MS = 60_000;

interface CompletionDeps {
  cluster: Cluster;
  names: IndexNames;
  documents: JournalDocuments;
  contacts: ContactDocuments;
  erasures: Pick<Erasures, 'removeAll'>;
  deletedMarks: DeletedMarks;
  clock: Clock;
  /** Copies of the contacts for SQL; by default, there are none. */
  copies?: CopiesToErase;
  /** Milliseconds without a step after which the process that began an erasure counts as dead; by default longer than a request. */
  takeoverMs?: number;
  /** Pause between two force merges; by default a day. */
  expungeIntervalMs?: number;
  /** Days for which marks of erased contacts are kept; 0 keeps none. */
  changesDays: number;
}

export class ErasureCompletion {
  readonly #deps: CompletionDeps;
  readonly #documents: JournalDocuments;

  constructor(deps: CompletionDeps) {
    this.#deps = deps;
    this.#documents = deps.documents;
  }

  /** Takes one step to complete pending erasures. The next call takes the next step. */
  async complete(): Promise<void> {
    await this.#deleteFound();
    await this.#expunge();
  }

  /** Finishes the oldest erasures, and deletes their tombstones. Does nothing during a reindex, which does not see deletions. */
  async #deleteFound(): Promise<void> {
    const { cluster, names, contacts, erasures, clock, takeoverMs = TAKEOVER_MS } = this.#deps;
    const overdue = clock.now() - takeoverMs;
    const isOverdue = { range: { requested_at: { lt: overdue } } };
    const isNew = {
      bool: { filter: [...PENDING, isOverdue], must_not: { exists: { field: 'deleted_at' } } },
    };
    const { hits } = (await this.#documents.search(journalSearch(isNew))).hits;
    if (hits.length === 0) return;
    const finished: Journal[] = [];
    let deletedUpTo: ShardNumbers;
    const lock = await acquireReindexLock(cluster, names, clock);
    if (!lock) return;
    try {
      for (const { id, source } of hits.map(versionOfHit)) {
        const { organization_id: routing = '', requested_at = 0, work } = source;
        // Another process is working on this erasure.
        if ((work?.stepped_at ?? requested_at) >= overdue) continue;
        await erasures.removeAll(id);
        const journal = await this.#documents.get(id);
        if (!journal) continue;
        const tombstones = await contacts.getMany(
          erasedIds(journal.source).map((contactId) => ({ id: documentId(routing, contactId), routing })),
        );
        lock.throwIfLost();
        // A document that was written meanwhile is left to the next run.
        if (await this.#removeTombstones(routing, [...tombstones.values()])) finished.push(journal);
      }
      // This deletes the former versions of the journals, which name the persons.
      await replaceJournals(this.#documents, finished, (before) => {
        const { work: _work, contact_ids: _ids, ...source } = before;
        return source;
      });
      deletedUpTo = await lastOperations(cluster, this.#expungedIndices());
      lock.throwIfLost();
    } finally {
      await lock.release();
    }
    // Journals that changed meanwhile are left to the next run.
    const nameless = [...(await this.#documents.getMany(finished)).values()].filter(
      ({ source }) => !source.work && !source.contact_ids,
    );
    await replaceJournals(this.#documents, nameless, (source) => ({
      ...source,
      deleted_at: clock.now(),
      deleted_up_to: deletedUpTo,
    }));
  }

  /** Replaces tombstones by marks for the feed of changes, or deletes them if there are no marks. Returns whether nothing is left. */
  async #removeTombstones(
    organizationId: string,
    tombstones: readonly VersionedDocument<ContactSource | Tombstone>[],
  ): Promise<boolean> {
    const { contacts, clock, changesDays, deletedMarks } = this.#deps;
    if (changesDays === 0) {
      const now = clock.now();
      await deletedMarks.begin(now, now, false);
      return (await contacts.deleteMany(tombstones)) === tombstones.length;
    }
    const mark: Tombstone = { abandoned_at: clock.now(), ...markOf(organizationId), erased: true };
    const conflicts = await contacts.writeMany(
      tombstones
        .filter(({ source }) => !('erased' in source))
        .map((before) => ({
          id: before.id,
          routing: before.routing,
          before,
          json: () => JSON.stringify(mark),
        })),
    );
    return conflicts.size === 0;
  }

  /** Starts a force merge if one is due. Once a force merge has ended, completes the erasures that needed it. */
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
    // One of several processes continues. If it dies, another continues after the check interval.
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

  /** Returns false while a copy outside Elasticsearch may hold bytes. */
  async #completeAll(retainedFrom: ShardNumbers): Promise<boolean> {
    const { clock } = this.#deps;
    for await (const journals of journalPages(this.#documents, DELETED)) {
      const expunged = journals.filter(({ source }) => isDropped(source.deleted_up_to ?? {}, retainedFrom));
      if (!(await this.#isFreeOf(expunged))) return false;
      const completed_at = formatTimestamp(clock.now());
      await replaceJournals(
        this.#documents,
        expunged,
        ({ contact_ids: _ids, deleted_up_to: _upTo, proof, ...rest }) => ({
          ...rest,
          pending: false,
          proof: { ...(proof as ErasureProof), completed_at },
        }),
      );
    }
    await this.#deps.deletedMarks.complete(retainedFrom);
    return true;
  }

  async #anyDropped(retainedFrom: ShardNumbers): Promise<boolean> {
    const marks = await this.#deps.deletedMarks.readUpTo();
    if (marks && isDropped(marks, retainedFrom)) return true;
    for await (const journals of journalPages(this.#documents, DELETED)) {
      if (journals.some(({ source }) => isDropped(source.deleted_up_to ?? {}, retainedFrom))) return true;
    }
    return false;
  }

  async #hasDeleted(): Promise<boolean> {
    if (await this.#deps.deletedMarks.readUpTo()) return true;
    return (
      totalHits((await this.#documents.search({ size: 0, query: { bool: { filter: DELETED } } })).hits) > 0
    );
  }

  /** Whether no copy contains a byte of the erased contacts; false if this process does not know. */
  async #isFreeOf(erasures: readonly Journal[]): Promise<boolean> {
    const { copies, cluster, names } = this.#deps;
    if (!copies || erasures.length === 0) return true;
    const found = copies();
    if (!found) return found === null;
    const positions = await found.readPositions();
    if (!positions) return false;
    const index = await readShards(cluster, names);
    return positions.every((position) =>
      erasures.every(({ source }) => isCoveredBy(position, source.deleted_up_to ?? {}, index)),
    );
  }

  #expungedIndices(): string {
    return EXPUNGED_RESOURCES.map((resource) => this.#deps.names.alias(resource)).join(',');
  }
}
