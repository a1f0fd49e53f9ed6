import { KeyedMutex } from '../../shared/async.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import { type Clock, parseTimestamp } from '../../shared/time.js';
import type { VisitRecord } from '../../visits/schema.js';
import { toVisit } from '../../visits/stored-visit.js';
import type { Cluster } from './client.js';
import { Documents, type DocumentWrite, documentId } from './documents.js';
import { IndexMissingError } from './errors.js';
import { dropMonthsBefore, ensureMonthIndex, type IndexNames, monthOf } from './migrations/indices.js';
import { acquireReindexLock } from './migrations/reindex-lock.js';
import { type VisitSource, visitDocument } from './visits.js';

interface VisitWritesDeps {
  cluster: Cluster;
  names: IndexNames;
  visits: Documents<VisitSource>;
  clock: Clock;
}

/** Writes visits to the indices of their months, and deletes old ones. */
export class VisitWrites {
  readonly #deps: VisitWritesDeps;
  /** Months whose index is known to exist. */
  readonly #months = new Set<string>();
  readonly #mutex = new KeyedMutex();

  constructor(deps: VisitWritesDeps) {
    this.#deps = deps;
  }

  /** The first record of an id and creation time stays. Throws `StoreUnavailableError` and `StoreTimeoutError`. */
  async insert(records: readonly OrderedRecord<VisitRecord>[]): Promise<void> {
    const months = new Map<string, Map<string, DocumentWrite>>();
    for (const { record } of records) {
      const createdMs = parseTimestamp(record.createdAt);
      const { organizationId: routing } = record;
      const id = `${documentId(routing, record.id)}/${createdMs}`;
      const month = monthOf(createdMs);
      const changes = months.get(month) ?? new Map<string, DocumentWrite>();
      months.set(month, changes);
      if (!changes.has(id))
        changes.set(id, {
          id,
          routing,
          json: () => JSON.stringify(visitDocument(toVisit(record, createdMs))),
        });
    }
    await Promise.all(
      Array.from(months, ([month, changes]) =>
        this.#mutex.runExclusive([...changes.keys()], () => this.#insertMonth(month, [...changes.values()])),
      ),
    );
  }

  /** Months that end before the moment go as whole indices. */
  async deleteBefore(createdMs: number, limit: number): Promise<number> {
    const lock = await acquireReindexLock(this.#deps.cluster, this.#deps.names, this.#deps.clock);
    if (!lock) return 0;
    try {
      const dropped = await dropMonthsBefore(this.#deps.cluster, this.#deps.names, createdMs);
      this.#months.clear();
      if (dropped > 0) return dropped;
      const { hits } = await this.#deps.visits.search({
        size: Math.min(limit, 10_000),
        seq_no_primary_term: true,
        track_total_hits: false,
        _source: false,
        query: { range: { created_at: { lt: createdMs, format: 'epoch_millis' } } },
        sort: [{ created_at: 'asc' }],
      });
      lock.throwIfLost();
      const deleted = await this.#deps.visits.deleteMany(hits.hits);
      await this.#deps.visits.refresh();
      return deleted;
    } finally {
      await lock.release();
    }
  }

  /** Conflicting visits exist already: the first record stays. */
  async #insertMonth(month: string, changes: DocumentWrite[]): Promise<void> {
    const documents = new Documents(this.#deps.cluster, this.#deps.names.monthAlias(month));
    if (this.#months.has(month)) {
      try {
        await documents.writeMany(changes);
        return;
      } catch (error) {
        // Operators drop old visits by deleting the index of a month; a late visit creates it again.
        if (!(error instanceof IndexMissingError)) throw error;
        this.#months.delete(month);
      }
    }
    await ensureMonthIndex(this.#deps.cluster, this.#deps.names, month);
    this.#months.add(month);
    await documents.writeMany(changes);
  }
}
