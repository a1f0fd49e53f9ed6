/**
 * Reindexes behind an alias while the index is read and written.
 *
 * The target is filled from the documents in the order of their sequence numbers, pass after pass, each beginning where the
 * last one ended, until little is left. Then writes are blocked for a moment, the rest is copied, and the alias moves over, in
 * one step. A writer that is blocked tries again and meets the target.
 *
 * Documents are never deleted meanwhile, as a copy by sequence numbers does not see it: what deletes holds the same lock.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailableError } from '../../../shared/store-errors.js';
import type { Clock } from '../../../shared/time.js';
import type { Cluster } from '../client.js';
import { search } from '../documents.js';
import { retryWithBackoff } from '../retry.js';
import { createIndex, type Definition, type IndexNames, type LiveIndex } from './indices.js';
import { acquireReindexLock, type ReindexLock, rollBackReindex } from './reindex-lock.js';
import { blockWrites, buildingAlias, dropIndex, moveAliases, unblockWrites } from './reindex-steps.js';

export interface ReindexOptions {
  cluster: Cluster;
  names: IndexNames;
  clock: Clock;
  live: LiveIndex;
  /** Other aliases that the index has beside its own. */
  aliases: readonly string[];
  definition: Definition;
  /** The document to index for what an index keeps of it. */
  toDocument(source: unknown): object;
  lock: ReindexLock;
  onProgress?(copied: number, total: number): void;
}

/** Writes are blocked once no more than this is left to copy, or after so many passes. */
const FINAL_PASS_THRESHOLD = 500;
const MAX_PASSES = 8;
const PAGE = 1000;
const BULK_BYTES = 5_000_000;
/** Searches under way when the alias moves still read the old index. */
const DRAIN_MS = 3000;

/**
 * Resolves with the name of the index that serves now. Whatever fails before the alias moves changes nothing; what could not
 * be rolled back stays named in the lock, for whoever holds it next.
 */
export async function reindex(options: ReindexOptions): Promise<string> {
  const { cluster, names, live, definition, lock, aliases } = options;
  // Unique, so that an attempt that comes back to life late cannot write into ours.
  const target = `${names.index(live.alias, definition.version, live.generation + 1)}-${randomBytes(3).toString('hex')}`;
  await lock.update({ index: live.index, successor: target });
  try {
    await createIndex(cluster, target, definition, [buildingAlias(target)]);
    const copier = new Copier(options, buildingAlias(target), await count(cluster, live.index));
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      if ((await copier.pass()) <= FINAL_PASS_THRESHOLD) break;
    }
    // Asks the cluster, not the timer: a block set without the lock would stay.
    await lock.update({});
    await blockWrites(cluster, live.index);
    await copier.finalPass();
    await requireSameCount(cluster, live.index, target);
    await lock.update({});
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
  await lock.update({ index: null, successor: null });
  return target;
}

/**
 * The next holder of the lock has rolled back. A block of ours that landed after that is ours to end, but only while nobody
 * else reindexes.
 */
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

class Copier {
  readonly #options: ReindexOptions;
  readonly #target: string;
  readonly #total: number;
  /** The last sequence number copied, by shard. */
  readonly #reached = new Map<string, number>();
  #copied = 0;

  constructor(options: ReindexOptions, target: string, total: number) {
    this.#options = options;
    this.#target = target;
    this.#total = total;
  }

  /** Copies what was certain when the pass began: below a checkpoint no earlier operation can turn up any more. */
  async pass(): Promise<number> {
    let copied = 0;
    const checkpoints = await this.#checkpoints();
    await this.#refresh(this.#options.live.index);
    for (const [shard, checkpoint] of checkpoints) copied += await this.#copy(shard, checkpoint);
    return copied;
  }

  /** Copies all that is left. Writes are blocked meanwhile. */
  async finalPass(): Promise<void> {
    await this.#refresh(this.#options.live.index);
    for (const shard of (await this.#checkpoints()).keys()) await this.#copy(shard, Number.MAX_SAFE_INTEGER);
    await this.#refresh(this.#target);
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
        if (!primary?.seq_no)
          throw new StoreUnavailableError('search', { cause: new Error(`no shard ${shard}`) });
        return [shard, primary.seq_no.global_checkpoint];
      }),
    );
  }

  async #refresh(index: string): Promise<void> {
    await this.#options.cluster.run((client) => client.indices.refresh({ index }));
  }

  async #copy(shard: string, upTo: number): Promise<number> {
    const { cluster, live, lock, onProgress } = this.#options;
    let copied = 0;
    for (;;) {
      const after = this.#reached.get(shard) ?? -1;
      const { hits } = await search<unknown>(cluster, {
        index: live.index,
        preference: `_shards:${shard}`,
        size: PAGE,
        track_total_hits: false,
        seq_no_primary_term: true,
        query: { range: { _seq_no: { gt: after, lte: upTo } } },
        sort: [{ _seq_no: 'asc' }],
      });
      const found = hits.hits as unknown as Hit[];
      const last = found.at(-1);
      if (!last) break;
      await this.#write(found);
      this.#reached.set(shard, last._seq_no);
      copied += found.length;
      this.#copied += found.length;
      onProgress?.(Math.min(this.#copied, this.#total), this.#total);
      lock.throwIfLost();
    }
    if (upTo < Number.MAX_SAFE_INTEGER) this.#reached.set(shard, upTo);
    return copied;
  }

  /** The newest copy of a document stays, whoever writes it and when. */
  async #write(hits: readonly Hit[]): Promise<void> {
    const { cluster, toDocument } = this.#options;
    let failure: unknown;
    await cluster.run((client) =>
      client.helpers.bulk({
        datasource: hits as Hit[],
        onDocument: ({ _id, _routing, _seq_no, _source }) => [
          {
            index: {
              _index: this.#target,
              _id,
              routing: _routing,
              require_alias: true,
              version: _seq_no + 1,
              version_type: 'external_gte',
            },
          },
          toDocument(_source),
        ],
        flushBytes: BULK_BYTES,
        concurrency: 2,
        wait: 200,
        onDrop: ({ status, error }) => {
          if (status !== 409) failure ??= error ?? new Error(`a copy was refused with ${status}`);
        },
      }),
    );
    if (failure) throw new StoreUnavailableError('search', { cause: failure });
  }
}

async function requireSameCount(cluster: Cluster, index: string, target: string): Promise<void> {
  const [before, after] = await Promise.all([count(cluster, index), count(cluster, target)]);
  if (before !== after) {
    const cause = new Error(`${target} has ${after} documents, ${index} has ${before}`);
    throw new StoreUnavailableError('search', { cause });
  }
}

async function count(cluster: Cluster, index: string): Promise<number> {
  return (await cluster.run((client) => client.count({ index }))).count;
}
