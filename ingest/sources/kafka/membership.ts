/** What a consumer knows of its membership in its group: the partitions assigned to it, and their lag. */
import type { Consumer } from 'kafkajs';
import type { Fetched } from 'kafkajs/src/consumer/consumerGroup.js';
import { fetchListeners } from './patches.js';

/** Requests that extend the session of a member. */
const HEARTBEAT_REQUESTS = new Set(['Heartbeat', 'SyncGroup']);
/** The end of a partition is known for this long after a fetch. */
const LAG_MAX_AGE_MS = 10_000;

export class Membership {
  /** Counts the rebalances: a partition may have been assigned to another member in between. */
  epoch = 0;
  readonly sessionMs: number;
  /** The group waits for its members to join again. */
  isRebalancing = false;
  #partitions: ReadonlySet<number> = new Set();
  /** By partition; `at` of `performance.now()`. */
  readonly #fetched = new Map<number, { next: bigint; end: bigint; at: number }>();
  #memberId = '';
  /** When the last request that extended the session was sent, of `performance.now()`: a response may be handled late. */
  #lastHeartbeat = Number.NEGATIVE_INFINITY;
  #lastSent = this.#lastHeartbeat;

  constructor(consumer: Consumer, topic: string, sessionMs: number) {
    this.sessionMs = sessionMs;
    consumer.on('consumer.network.request', ({ payload }) => {
      if (!HEARTBEAT_REQUESTS.has(payload.apiName)) return;
      this.#lastSent = performance.now() - (Date.now() - payload.sentAt);
    });
    consumer.on('consumer.group_join', ({ payload }) => {
      this.epoch++;
      this.isRebalancing = false;
      this.#partitions = new Set(payload.memberAssignment[topic]);
      this.end();
      this.#memberId = payload.memberId;
      fetchListeners.set(this.#memberId, (fetched) => this.#onFetch(fetched));
      this.#fetched.clear();
      this.#lastHeartbeat = this.#lastSent;
    });
    consumer.on('consumer.rebalancing', () => {
      this.epoch++;
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

  committed(partition: number, next: bigint): void {
    const fetched = this.#fetched.get(partition);
    if (fetched) fetched.next = next;
  }

  /** Records behind the committed offset, by partition; null when one of them was not fetched recently. */
  lag(): Map<number, bigint> | null {
    const lag = new Map<number, bigint>();
    for (const partition of this.#partitions) {
      const fetched = this.#fetched.get(partition);
      if (!fetched || performance.now() - fetched.at > LAG_MAX_AGE_MS) return null;
      lag.set(partition, fetched.end - fetched.next);
    }
    return lag;
  }

  /** The entries of the partitions that are assigned to this member. */
  assignedOf<T>(partitions: ReadonlyMap<number, T>): Map<number, T> {
    return new Map([...partitions].filter(([partition]) => this.#partitions.has(partition)));
  }

  end(): void {
    fetchListeners.delete(this.#memberId);
  }

  #onFetch(fetched: readonly Fetched[]): void {
    for (const { partition, fetchedOffset, highWatermark } of fetched) {
      const at = performance.now();
      this.#fetched.set(partition, { next: BigInt(fetchedOffset), end: BigInt(highWatermark), at });
    }
  }
}
