/**
 * Reindexes behind an alias while the index is read and written.
 * Passes copy the documents by their sequence numbers, in concurrent slices. Each pass begins where the last one ended, until few documents
 * are left. Then writes are blocked, a final pass copies the rest, and the aliases move to the target index in one atomic step. Blocked
 * writers retry and reach the target.
 * Two facts make it safe. First, the block is lifted only after the target's own alias is gone, and the move fails without that alias, so a
 * successful move has missed no write. Second, documents are deleted only under the same lock, because a copy by sequence numbers does not
 * see deletions. Rejections are an exception: deleted rejections may come back.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { retry } from '../../../shared/retry.js';
import { RejectedError, StoreUnavailableError } from '../../../shared/store-errors.js';
import type { Clock } from '../../../shared/time.js';
import type { BulkOperation, Cluster } from '../client.js';
import { Documents } from '../documents.js';
import { IndexMissingError, isOutage, itemError, unavailable } from '../errors.js';
import { retryWithBackoff } from '../retry.js';
import { createIndex, type Definition, type IndexNames, type LiveIndex } from './indices.js';
import {
  acquireReindexLock,
  clearTarget,
  type ReindexLock,
  recordTarget,
  rollBackReindex,
} from './reindex-lock.js';
import {
  blockWrites,
  buildingAlias,
  dropIndex,
  moveAliases,
  setRefreshInterval,
  unblockWrites,
} from './reindex-steps.js';

export interface ReindexOptions {
  cluster: Cluster;
  names: IndexNames;
  clock: Clock;
  live: LiveIndex;
  /** Other aliases of the index. */
  aliases: readonly string[];
  definition: Definition;
  /** Derives the document to index from the stored one. */
  toDocument(source: unknown): object;
  lock: ReindexLock;
  onProgress?(copied: number, total: number): void;
}

/** Writes are blocked after a pass that copied at most this many documents, or after `MAX_PASSES`. */
const FINAL_PASS_THRESHOLD = 500;
const MAX_PASSES = 8;
/** Few documents are in flight at once, because each node handles these writes before later writes of other clients. */
const DOCUMENTS_PER_PAGE = 250;
const CONCURRENT_SLICES = 2;
/** Number of sequence numbers of a shard per slice. */
const SEQUENCE_NUMBERS_PER_SLICE = 50_000;
/** Retries while this process holds the lock. An outage that is longer than the lease makes the reindex start over. */
const OUTAGE_RETRY = { firstMs: 100, maxMs: 2000 };
/**
 * Requests that read the old index before the aliases moved end within this time. A later write to the deleted index would create it again,
 * empty and without an alias.
 */
const DRAIN_MS = 3000;

/**
 * Resolves with the name of the target index. If the reindex fails before the aliases move, this process rolls it back; otherwise the next
 * holder of the lock does, because the target stays recorded in the lock. Throws `StoreUnavailableError`, `StoreTimeoutError`,
 * `LeaseLostError` and `RejectedError`.
 */
export async function reindex(options: ReindexOptions): Promise<string> {
  const { cluster, names, live, definition, lock, aliases } = options;
  // The name is unique, so that another attempt that resumes late cannot write into this target.
  const target = `${names.index(live.alias, definition.version, live.generation + 1)}-${randomBytes(3).toString('hex')}`;
  await recordTarget(lock, live.index, target);
  try {
    await createIndex(
      cluster,
      target,
      { ...definition, settings: { ...definition.settings, refresh_interval: '-1' } },
      [buildingAlias(target)],
    );
    const copier = new Copier(options, buildingAlias(target), await count(cluster, live.index));
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      if ((await copier.pass()) <= FINAL_PASS_THRESHOLD) break;
    }
    // No search has used the target until now.
    await setRefreshInterval(cluster, target, definition.settings.refresh_interval);
    await cluster.refresh(target);
    // Makes sure that this process still holds the lock: a block without the lock would delay the writers of another reindex.
    await lock.update({});
    await blockWrites(cluster, live.index);
    await copier.pass({ final: true });
    await cluster.refresh(target);
    await requireAllCopied(cluster, live.index, target);
    await moveAliases(cluster, live.index, target, [live.alias, ...aliases]);
  } catch (error) {
    const outcome = await lock
      .update({})
      .then(() => rollBackReindex(cluster, lock))
      .catch(() => 'unknown' as const);
    if (outcome === 'finished') return target;
    if (lock.lost.aborted) await endLateBlock(options).catch(() => undefined);
    throw error;
  }
  await pause(DRAIN_MS);
  await dropIndex(cluster, live.index);
  await clearTarget(lock);
  return target;
}

/** Lifts a write block that was set after the next holder of the lock had rolled back, but only while no other process reindexes. */
async function endLateBlock({ cluster, names, clock, live }: ReindexOptions): Promise<void> {
  const lock = await retryWithBackoff(async () => {
    return (await acquireReindexLock(cluster, names, clock)) ?? undefined;
  });
  try {
    await unblockWrites(cluster, live.index);
  } finally {
    await lock.release();
  }
}

interface Hit {
  _id: string;
  _routing?: string;
  _seq_no: number;
  _source: unknown;
}

interface Slice {
  shard: string;
  /** Range of sequence numbers, of which the first is exclusive. */
  after: number;
  upTo: number;
}

class Copier {
  readonly #options: ReindexOptions;
  readonly #documents: Documents<unknown>;
  readonly #target: string;
  readonly #total: number;
  /** The sequence number that the passes have reached, by shard. */
  readonly #reached = new Map<string, number>();
  #copied = 0;

  constructor(options: ReindexOptions, target: string, total: number) {
    this.#options = options;
    this.#documents = new Documents(options.cluster, options.live.index);
    this.#target = target;
    this.#total = total;
  }

  /**
   * Copies documents up to the global checkpoints at the start of the pass, below which no operation is missing. The final pass, under the
   * write block, copies everything. Resolves with the number of copied documents.
   */
  async pass({ final = false } = {}): Promise<number> {
    const { cluster, live } = this.#options;
    const checkpoints = await this.#checkpoints();
    await cluster.refresh(live.index);
    const slices: Slice[] = [];
    for (const [shard, checkpoint] of checkpoints) {
      let after = this.#reached.get(shard) ?? -1;
      while (after < checkpoint) {
        const upTo = Math.min(after + SEQUENCE_NUMBERS_PER_SLICE, checkpoint);
        slices.push({ shard, after, upTo });
        after = upTo;
      }
      this.#reached.set(shard, after);
      if (final) slices.push({ shard, after, upTo: Number.MAX_SAFE_INTEGER });
    }
    const copiedBefore = this.#copied;
    const failed = new AbortController();
    const signal = AbortSignal.any([this.#options.lock.lost, failed.signal]);
    const copySlices = async () => {
      for (let slice = slices.shift(); slice; slice = slices.shift()) await this.#copy(slice, signal);
    };
    await Promise.all(
      Array.from({ length: CONCURRENT_SLICES }, () =>
        copySlices().catch((error: unknown) => {
          failed.abort(error);
          throw error;
        }),
      ),
    );
    return this.#copied - copiedBefore;
  }

  async #checkpoints(): Promise<Map<string, number>> {
    const { index } = this.#options.live;
    const stats = await this.#options.cluster.run((client) =>
      client.indices.stats({ index, level: 'shards' }),
    );
    const shards = Object.entries(stats.indices?.[index]?.shards ?? {});
    return new Map(
      shards.map(([shard, copies]) => {
        const primary = copies.find(({ routing }) => routing?.primary);
        if (!primary?.seq_no) throw unavailable(`no shard ${shard}`);
        return [shard, primary.seq_no.global_checkpoint];
      }),
    );
  }

  async #copy({ shard, after, upTo }: Slice, signal: AbortSignal): Promise<void> {
    const { lock, onProgress } = this.#options;
    const patiently = <T>(work: () => Promise<T>) =>
      retry(OUTAGE_RETRY, work, {
        // If the alias is missing, another process has rolled back.
        isRetriable: (error) => isOutage(error) && !(error instanceof IndexMissingError),
        signal,
      });
    for (let reached = after; ; ) {
      const range = { _seq_no: { gt: reached, lte: upTo } };
      const { hits } = await patiently(() =>
        this.#documents.search({
          preference: `_shards:${shard}`,
          size: DOCUMENTS_PER_PAGE,
          track_total_hits: false,
          seq_no_primary_term: true,
          query: { range },
          sort: [{ _seq_no: 'asc' }],
        }),
      );
      const found = hits.hits as unknown as Hit[];
      const last = found.at(-1);
      if (!last) return;
      await patiently(() => this.#write(found));
      reached = last._seq_no;
      this.#copied += found.length;
      onProgress?.(Math.min(this.#copied, this.#total), this.#total);
      lock.throwIfLost();
    }
  }

  /** External versions keep the newest copy of a document, whatever the order of writes. */
  async #write(hits: readonly Hit[]): Promise<void> {
    const { cluster, toDocument } = this.#options;
    const copy = ({ _id, _routing: routing, _seq_no, _source }: Hit): BulkOperation => {
      const version = { version: _seq_no + 1, version_type: 'external_gte' };
      return [
        { index: { _id, routing, require_alias: true, ...version } },
        JSON.stringify(toDocument(_source)),
      ];
    };
    let failure: Error | undefined;
    await cluster.bulk(this.#target, hits, copy, (_, status, error) => {
      if (status === 404) failure = new IndexMissingError(this.#target);
      else if (status !== 409) failure ??= itemError(status, error);
    });
    if (failure instanceof RejectedError || failure instanceof IndexMissingError) throw failure;
    if (failure) throw new StoreUnavailableError('records', { cause: failure });
  }
}

/** Throws if the target lacks documents. The target may have more documents: rejections that were copied first and then deleted. */
async function requireAllCopied(cluster: Cluster, index: string, target: string): Promise<void> {
  const [before, after] = await Promise.all([count(cluster, index), count(cluster, target)]);
  if (after < before) throw unavailable(`${target} has ${after} documents, ${index} has ${before}`);
}

async function count(cluster: Cluster, index: string): Promise<number> {
  return (await cluster.run((client) => client.count({ index }))).count;
}
