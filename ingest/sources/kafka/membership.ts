/** What a consumer knows of its membership in its group: the partitions assigned to it, and their lag. */
import type { Consumer } from 'kafkajs';
import type { ConsumerGroup, Fetched } from 'kafkajs/src/consumer/consumerGroup.js';
import type { FetchedRange } from './in-flight.js';

/** Requests that extend the session of a member. */
const HEARTBEAT_REQUESTS = new Set(['Heartbeat', 'SyncGroup']);
/** The end of a partition is known for this long after a fetch. */
const LAG_MAX_AGE_MS = 10_000;

interface LastFetch {
  range: FetchedRange;
  /** Behind the last committed record. */
  committed: bigint;
  end: bigint;
  /** Of `performance.now()`. */
  at: number;
}

export class Membership {
  /** Counts the rebalances: a partition may have been assigned to another member in between. */
  epoch = 0;
  readonly sessionMs: number;
  /** The group waits for its members to join again. */
  isRebalancing = false;
  readonly #topic: string;
  #group: Pick<ConsumerGroup, 'resolveOffset'> | undefined;
  #partitions: ReadonlySet<number> = new Set();
  /** By partition. */
  readonly #fetched = new Map<number, LastFetch>();
  /** When the last request that extended the session was sent, of `performance.now()`: a response may be handled late. */
  #lastHeartbeat = Number.NEGATIVE_INFINITY;
  #lastSent = this.#lastHeartbeat;

  constructor(consumer: Consumer, topic: string, sessionMs: number) {
    this.#topic = topic;
    this.sessionMs = sessionMs;
    consumer.on('consumer.network.request', ({ payload }) => {
      if (!HEARTBEAT_REQUESTS.has(payload.apiName)) return;
      this.#lastSent = performance.now() - (Date.now() - payload.sentAt);
    });
    consumer.on('consumer.group_join', ({ payload }) => {
      this.epoch++;
      this.isRebalancing = false;
      this.#partitions = new Set(payload.memberAssignment[topic]);
      this.#fetched.clear();
      this.#lastHeartbeat = this.#lastSent;
    });
    consumer.on('consumer.heartbeat', () => {
      this.#lastHeartbeat = this.#lastSent;
    });
  }

  /** Whether a partition is assigned to this member since `epoch`. A session without a heartbeat is over, whether it knows or not. */
  isAssigned(partition: number, epoch: number): boolean {
    const silentMs = performance.now() - this.#lastHeartbeat;
    return epoch === this.epoch && this.#partitions.has(partition) && silentMs < this.sessionMs;
  }

  /** A commit of this member would have the next generation from now on. */
  joins(group: Pick<ConsumerGroup, 'resolveOffset'>): void {
    this.epoch++;
    this.#group = group;
  }

  committed(partition: number, next: bigint): void {
    const fetched = this.#fetched.get(partition);
    if (fetched) fetched.committed = next;
  }

  /** The records at the committed offset were deleted. */
  offsetLost(partition: number): void {
    this.#fetched.delete(partition);
  }

  /** Sets the offset of the next fetch of an assigned partition. */
  fetchFrom(partition: number, offset: bigint): void {
    this.#group?.resolveOffset({ topic: this.#topic, partition, offset: String(offset - 1n) });
  }

  /** What was fetched of a partition last, if it ends with `last`. */
  lastFetched(partition: number, last: string): FetchedRange | undefined {
    const range = this.#fetched.get(partition)?.range;
    return range?.next === BigInt(last) + 1n ? range : undefined;
  }

  /** Records behind the committed offset, by partition; null when one of them was not fetched recently. */
  lag(): Map<number, bigint> | null {
    const lag = new Map<number, bigint>();
    for (const partition of this.#partitions) {
      const fetched = this.#fetched.get(partition);
      if (!fetched || performance.now() - fetched.at > LAG_MAX_AGE_MS) return null;
      lag.set(partition, fetched.end - fetched.committed);
    }
    return lag;
  }

  /** The entries of the partitions that are assigned to this member. */
  assignedOf<T>(partitions: ReadonlyMap<number, T>): Map<number, T> {
    return new Map([...partitions].filter(([partition]) => this.#partitions.has(partition)));
  }

  onFetch(fetched: readonly Fetched[]): void {
    for (const batch of fetched) {
      const { partition, highWatermark } = batch;
      const range = rangeOf(batch);
      const committed = this.#fetched.get(partition)?.committed ?? range.from;
      this.#fetched.set(partition, { range, committed, end: BigInt(highWatermark), at: performance.now() });
    }
  }
}

export const rangeOf = (
  batch: Pick<Fetched, 'partition' | 'fetchedOffset' | 'lastOffset'>,
): FetchedRange => ({
  partition: batch.partition,
  from: BigInt(batch.fetchedOffset),
  next: BigInt(batch.lastOffset()) + 1n,
});
