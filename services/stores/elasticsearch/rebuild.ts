/**
 * Rebuilds an index behind its alias while it is read and written.
 *
 * The successor is filled from the documents in the order of their sequence numbers, pass after pass, each beginning
 * where the last one ended, until little is left. Then writes are held for a moment, the rest is copied, and the alias
 * moves over, in one step. A writer that is held tries again and finds the successor.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { estypes } from '@elastic/elasticsearch';
import { StoreUnavailable } from '../store-error.js';
import type { Cluster } from './cluster.js';
import { search } from './documents.js';
import { createIndex, type Definition, type IndexNames, type LiveIndex } from './indices.js';
import type { RebuildLock } from './rebuild-lock.js';

export interface Rebuilding {
  cluster: Cluster;
  names: IndexNames;
  live: LiveIndex;
  /** Other aliases that the index has beside its own. */
  aliases: readonly string[];
  definition: Definition;
  /** The document to index for what an index keeps of it. */
  toDocument(source: unknown): object;
  lock: RebuildLock;
  onProgress?(copied: number, total: number): void;
}

/** Writes are held once no more than this is left to copy, or after so many passes. */
const LITTLE = 500;
const MAX_PASSES = 8;
const PAGE = 1000;
const BULK_BYTES = 5_000_000;
/** Searches under way when the alias moves still read the old index. */
const FAREWELL_MS = 3000;

/** Resolves with the name of the index that serves now. Whatever fails before the alias moves changes nothing. */
export async function rebuild(given: Rebuilding): Promise<string> {
  const { cluster, names, live, definition, lock, aliases } = given;
  // A name that no other attempt has: one that comes back to life late must not meet another's index.
  const successor = `${names.index(live.alias, definition.version, live.generation + 1)}-${randomBytes(3).toString('hex')}`;
  const building = `${successor}${BUILDING}`;
  await lock.announce(live.index, successor);
  await createIndex(cluster, successor, definition, [building]);
  try {
    const total = await count(cluster, live.index);
    const copier = new Copier(given, building, total);
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      if ((await copier.pass()) <= LITTLE) break;
    }
    await lock.renew();
    await cluster.run((client) => client.indices.addBlock({ index: live.index, block: 'write' }));
    await copier.rest();
    await requireAll(cluster, live.index, successor);
    await lock.renew();
    await move(cluster, live.index, successor, [live.alias, ...aliases], building);
  } catch (error) {
    if (await lock.isHeld().catch(() => false)) {
      await abandon(cluster, live.index, successor).catch(() => undefined);
    }
    throw error;
  }
  await pause(FAREWELL_MS);
  await dropIndex(cluster, live.index);
  return successor;
}

/** Undoes a rebuild that did not come to its end. The successor goes first: without it the alias cannot move any more. */
export async function abandon(cluster: Cluster, index: string, successor: string): Promise<void> {
  const serving = await cluster.run((client) =>
    client.indices.getAlias({ index: successor }, { ignore: [404] }),
  );
  const names = Object.keys((serving as estypes.IndicesGetAliasResponse)[successor]?.aliases ?? {});
  const moved = names.length > 0 && !names.some((name) => name.endsWith(BUILDING));
  await dropIndex(cluster, moved ? index : successor);
  if (moved) return;
  await cluster.run((client) =>
    client.indices.putSettings({ index, settings: { 'index.blocks.write': null } }, { ignore: [404] }),
  );
}

/** The successor is written through an alias, as writing to an index that is gone would make it again. */
const BUILDING = '-building';

interface Hit {
  _id: string;
  _routing?: string;
  _seq_no: number;
  _source: unknown;
}

class Copier {
  readonly #given: Rebuilding;
  readonly #target: string;
  readonly #total: number;
  /** The last sequence number copied, by shard. */
  readonly #reached = new Map<string, number>();
  #copied = 0;

  constructor(given: Rebuilding, target: string, total: number) {
    this.#given = given;
    this.#target = target;
    this.#total = total;
  }

  /** Copies what was certain when the pass began: below a checkpoint no earlier operation can turn up any more. */
  async pass(): Promise<number> {
    let copied = 0;
    const checkpoints = await this.#checkpoints();
    await this.#refresh(this.#given.live.index);
    for (const [shard, checkpoint] of checkpoints) copied += await this.#copy(shard, checkpoint);
    return copied;
  }

  /** Copies all that is left. Writes are held meanwhile. */
  async rest(): Promise<void> {
    await this.#refresh(this.#given.live.index);
    for (const shard of (await this.#checkpoints()).keys()) await this.#copy(shard, Number.MAX_SAFE_INTEGER);
    await this.#refresh(this.#target);
  }

  async #checkpoints(): Promise<Map<string, number>> {
    const { index } = this.#given.live;
    const stats = await this.#given.cluster.run((client) => client.indices.stats({ index, level: 'shards' }));
    const shards = Object.entries(stats.indices?.[index]?.shards ?? {});
    return new Map(
      shards.map(([shard, copies]) => {
        const primary = copies.find(({ routing }) => routing?.primary);
        if (!primary?.seq_no) throw new StoreUnavailable('search', { cause: new Error(`no shard ${shard}`) });
        return [shard, primary.seq_no.global_checkpoint];
      }),
    );
  }

  async #refresh(index: string): Promise<void> {
    await this.#given.cluster.run((client) => client.indices.refresh({ index }));
  }

  async #copy(shard: string, upTo: number): Promise<number> {
    const { cluster, live, lock, onProgress } = this.#given;
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
      await lock.renew();
    }
    if (upTo < Number.MAX_SAFE_INTEGER) this.#reached.set(shard, upTo);
    return copied;
  }

  /** The newest copy of a document stays, whoever writes it and when. */
  async #write(hits: readonly Hit[]): Promise<void> {
    const { cluster, toDocument } = this.#given;
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
    if (failure) throw new StoreUnavailable('search', { cause: failure });
  }
}

async function requireAll(cluster: Cluster, index: string, successor: string): Promise<void> {
  const [before, after] = await Promise.all([count(cluster, index), count(cluster, successor)]);
  if (before !== after) {
    const cause = new Error(`${successor} has ${after} documents, ${index} has ${before}`);
    throw new StoreUnavailable('search', { cause });
  }
}

async function count(cluster: Cluster, index: string): Promise<number> {
  return (await cluster.run((client) => client.count({ index }))).count;
}

async function move(
  cluster: Cluster,
  index: string,
  successor: string,
  aliases: readonly string[],
  building: string,
): Promise<void> {
  await cluster.run((client) =>
    client.indices.updateAliases({
      actions: [
        ...aliases.flatMap((alias) => [
          { remove: { index, alias, must_exist: true } },
          { add: { index: successor, alias } },
        ]),
        { remove: { index: successor, alias: building, must_exist: true } },
      ],
    }),
  );
}

async function dropIndex(cluster: Cluster, index: string): Promise<void> {
  await cluster.run((client) => client.indices.delete({ index }, { ignore: [404] }));
}
