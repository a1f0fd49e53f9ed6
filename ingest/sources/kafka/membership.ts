/** Membership of a consumer in its group. */
import type { Consumer } from 'kafkajs';

/** Requests that extend the session of a member. */
const HEARTBEAT_REQUESTS = new Set(['Heartbeat', 'SyncGroup']);

export class Membership {
  /** Number of joins. Between two joins, a partition may have been assigned to another member. */
  epoch = 0;
  readonly sessionMs: number;
  /** Whether the group waits for its members to join again. */
  isRebalancing = false;
  #partitions: ReadonlySet<number> = new Set();
  /** Value of `performance.now()` when the last request that extended the session was sent; responses may be handled late. */
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
      this.#lastHeartbeat = this.#lastSent;
    });
    consumer.on('consumer.heartbeat', () => {
      this.#lastHeartbeat = this.#lastSent;
    });
  }

  /**
   * Whether a partition has been assigned to this member since `epoch`. A session without heartbeats is over, even if the member does not
   * know.
   */
  isAssigned(partition: number, epoch: number): boolean {
    const silentMs = performance.now() - this.#lastHeartbeat;
    return epoch === this.epoch && this.#partitions.has(partition) && silentMs < this.sessionMs;
  }

  /** The entries for partitions that are assigned to this member. */
  assignedOf<T>(partitions: ReadonlyMap<number, T>): Map<number, T> {
    return new Map([...partitions].filter(([partition]) => this.#partitions.has(partition)));
  }
}
