/**
 * Keeps the copy of contacts, audiences and visits that SQL reads on a server equal to the search store (decision 0022). Every worker
 * runs one; a lease decides which of them writes.
 *
 * A round copies what changed, shard by shard in the order of sequence numbers. A record that is deleted without a tombstone leaves
 * nothing to copy, so a round then compares: the copy holds at least what the index holds, so where an organization has more records
 * in the copy, those are deleted that the index does not have. Both see the index as it was at one moment.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../shared/time.js';
import {
  COPIED_KINDS,
  type CopiedShard,
  type CopyLease,
  type IndexSnapshot,
  nextVersion,
  type RecordCopy,
  type RecordSource,
  type SourceIndex,
} from '../common/record-copy.js';
import { keysOnlyIn } from './keys-only-in.js';

const INTERVAL_MS = 2000;
/** Then the lease is released, as an erasure may wait for it. */
const ROUND_MS = 10_000;
const INSERT_BYTES = 8 * 1024 * 1024;
const INSERT_RECORDS = 20_000;
const COMPARISON_PAUSE_FACTOR = 10;
/** Rows of deleted records stay hidden in their parts until then. */
const PURGE_INTERVAL_MS = 3_600_000;
const LOG_INTERVAL_MS = 60_000;

export interface RecordCopierOptions {
  source: RecordSource;
  copy: RecordCopy;
  clock: Clock;
  log?: { warn(details: object, message: string): void };
  intervalMs?: number;
  /** Minimum pause between two comparisons of an index, as a multiple of the duration of the first. */
  comparisonPauseFactor?: number;
}

export class RecordCopier {
  readonly #options: Required<Omit<RecordCopierOptions, 'log'>> & Pick<RecordCopierOptions, 'log'>;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** As last read or written, by index and shard. */
  #shards = new Map<string, CopiedShard>();
  /** When an index may be compared again, by its name. */
  readonly #compareAt = new Map<string, number>();
  #behindSince: number | undefined;
  #purgeAt = 0;
  #logAgainAt = 0;

  constructor({
    intervalMs = INTERVAL_MS,
    comparisonPauseFactor = COMPARISON_PAUSE_FACTOR,
    ...options
  }: RecordCopierOptions) {
    this.#options = { ...options, intervalMs, comparisonPauseFactor };
  }

  get deps(): Pick<RecordCopierOptions, 'source' | 'copy'> {
    return this.#options;
  }

  /** Seconds since the copy last held everything; 0 while it does. */
  get lagSeconds(): number {
    return this.#behindSince === undefined ? 0 : (performance.now() - this.#behindSince) / 1000;
  }

  /** Runs every two seconds until stopped. */
  start(): this {
    this.#running = this.#loop();
    return this;
  }

  /** Resolves once a running round has ended, soon. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** One round. Throws the errors of the stores, and `LeaseLostError`. */
  async run(): Promise<void> {
    const begun = performance.now();
    try {
      const indices = await this.#options.source.indices();
      if (this.#hasWork(indices) && (await this.#reread(indices))) await this.#round(indices, begun);
      if (this.#isCopied(indices)) this.#behindSince = undefined;
      else this.#behindSince ??= begun;
    } catch (error) {
      this.#behindSince ??= begun;
      throw error;
    }
  }

  async #loop(): Promise<void> {
    const { intervalMs, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const wait = intervalMs * (0.75 + Math.random() / 2);
      await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.run();
      } catch (err) {
        if (performance.now() < this.#logAgainAt) continue;
        this.#logAgainAt = performance.now() + LOG_INTERVAL_MS;
        log?.warn({ err, lag_s: this.lagSeconds }, 'copying records for SQL failed and is tried again');
      }
    }
  }

  /** Learns what other processes have copied. Whether there is work still. */
  async #reread(indices: readonly SourceIndex[]): Promise<boolean> {
    const shards = await this.#options.copy.shards();
    this.#shards = new Map(shards.map((each) => [shardId(each.source, each.shard), each]));
    return this.#hasWork(indices);
  }

  #hasWork(indices: readonly SourceIndex[]): boolean {
    return (
      !this.#isCopied(indices) ||
      indices.some((index) => this.#isComparable(index)) ||
      performance.now() >= this.#purgeAt
    );
  }

  #isCopied(indices: readonly SourceIndex[]): boolean {
    return (
      this.#goneIndices(indices).length === 0 &&
      indices.every((index) =>
        entries(index).every(([shard, position]) => this.#at(index, shard).seqNo >= position),
      )
    );
  }

  #isComparable(index: SourceIndex): boolean {
    return (
      performance.now() >= (this.#compareAt.get(index.name) ?? 0) &&
      entries(index).some(([shard, position]) => this.#at(index, shard).comparedSeqNo < position)
    );
  }

  /** How far a shard is copied; from its beginning where the index is a new one. */
  #at({ name, uuid }: SourceIndex, shard: number): CopiedShard {
    const known = this.#shards.get(shardId(name, shard));
    return known?.uuid === uuid
      ? known
      : { source: name, shard, uuid, seqNo: -1, comparedSeqNo: -1, version: 0 };
  }

  /** Indices that were copied and are deleted since. */
  #goneIndices(indices: readonly SourceIndex[]): string[] {
    const names = new Set(indices.map(({ name }) => name));
    const copied = [...this.#shards.values()].filter(({ uuid }) => uuid !== '');
    return [...new Set(copied.map(({ source }) => source))].filter((name) => !names.has(name));
  }

  async #round(indices: readonly SourceIndex[], begun: number): Promise<void> {
    const { source, copy, clock } = this.#options;
    const lease = await source.acquireLease();
    if (!lease) return;
    try {
      // Another process may have had the lease since.
      await this.#reread(indices);
      const version = nextVersion(this.#shards.values(), clock.now());
      const round = { lease, version, endsAt: begun + ROUND_MS };
      for (const name of this.#goneIndices(indices)) await this.#drop(name, round);
      for (const index of indices) {
        if (this.#isOver(round)) return;
        await this.#copyIndex(index, round);
      }
      if (performance.now() >= this.#purgeAt && !this.#isOver(round)) {
        for (const kind of COPIED_KINDS) await copy.purge(kind, await copy.organizationsToPurge(kind), 0);
        this.#purgeAt = performance.now() + PURGE_INTERVAL_MS;
      }
    } finally {
      await lease.release();
    }
  }

  #isOver({ endsAt }: Round): boolean {
    return this.#stop.signal.aborted || performance.now() > endsAt;
  }

  async #copyIndex(index: SourceIndex, round: Round): Promise<void> {
    const behind = entries(index).filter(([shard, position]) => this.#at(index, shard).seqNo < position);
    if (behind.length === 0 && !this.#isComparable(index)) return;
    const snapshot = await this.#options.source.open(index);
    try {
      for (const [shard, position] of behind) {
        if (!(await this.#copyShard(index, shard, position, snapshot, round))) return;
      }
      if (this.#isComparable(index)) await this.#compare(index, snapshot, round);
    } finally {
      await snapshot.close();
    }
  }

  /** Whether it came to the end of the shard. */
  async #copyShard(
    index: SourceIndex,
    shard: number,
    position: number,
    snapshot: IndexSnapshot,
    round: Round,
  ): Promise<boolean> {
    const { copy } = this.#options;
    let lines: string[] = [];
    let bytes = 0;
    // Operations after the position may be incomplete: they are copied, and again in the next round.
    const write = async (seqNo: number) => {
      round.lease.throwIfLost();
      await copy.insert(index, round.version, lines);
      lines = [];
      bytes = 0;
      await this.#save([
        { ...this.#at(index, shard), seqNo: Math.min(seqNo, position), version: round.version },
      ]);
    };
    for await (const page of snapshot.changes(shard, this.#at(index, shard).seqNo)) {
      for (const line of page.lines) {
        lines.push(line);
        bytes += line.length;
      }
      round.lease.throwIfLost();
      await copy.delete(index, round.version, page.deleted);
      if (bytes >= INSERT_BYTES || lines.length >= INSERT_RECORDS) await write(page.seqNo);
      if (this.#isOver(round)) {
        if (lines.length > 0) await write(page.seqNo);
        return false;
      }
    }
    await write(position);
    return true;
  }

  async #compare(index: SourceIndex, snapshot: IndexSnapshot, round: Round): Promise<void> {
    const { copy, log, comparisonPauseFactor } = this.#options;
    const begun = performance.now();
    const there = await snapshot.counts();
    const copied = await copy.counts(index);
    for (const [organizationId, records] of copied) {
      const expected = there.get(organizationId) ?? 0;
      if (records < expected) {
        log?.warn(
          { index: index.name, organization_id: organizationId, records, expected },
          'the copy for SQL lacks records',
        );
      }
      if (records <= expected) continue;
      for await (const keys of keysOnlyIn(copy.keys(index, organizationId), snapshot.keys(organizationId))) {
        if (this.#stop.signal.aborted) return;
        round.lease.throwIfLost();
        await copy.delete(
          index,
          round.version,
          keys.map((key) => ({ ...key, organizationId })),
        );
      }
    }
    this.#compareAt.set(index.name, performance.now() + comparisonPauseFactor * (performance.now() - begun));
    await this.#save(
      entries(index).map(([shard, position]) => ({ ...this.#at(index, shard), comparedSeqNo: position })),
    );
  }

  async #drop(name: string, { lease, version }: Round): Promise<void> {
    const { copy } = this.#options;
    const month = Number(/(\d{4})\.(\d\d)$/.exec(name)?.slice(1).join('') ?? 0);
    lease.throwIfLost();
    if (name.startsWith('visits')) await copy.dropMonth(month);
    const gone = [...this.#shards.values()].filter(({ source }) => source === name);
    await this.#save(gone.map((shard) => ({ ...shard, uuid: '', seqNo: -1, comparedSeqNo: -1, version })));
  }

  async #save(shards: readonly CopiedShard[]): Promise<void> {
    await this.#options.copy.saveShards(shards);
    for (const each of shards) this.#shards.set(shardId(each.source, each.shard), each);
  }
}

interface Round {
  lease: CopyLease;
  version: number;
  /** As `performance.now()`. */
  endsAt: number;
}

const shardId = (name: string, shard: number) => `${name} ${shard}`;
const entries = ({ shards }: SourceIndex): [number, number][] => [...shards];
