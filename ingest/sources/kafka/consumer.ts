/** A member of a group that hands the batches of a topic to a callback, and commits their offsets. */
import kafkajs, { type Consumer, type EachBatchPayload, type KafkaMessage } from 'kafkajs';
import type { KafkaAdmin } from './admin.js';
import { HEARTBEATS_PER_SESSION, type KafkaClient } from './client.js';
import { groupListeners } from './kafkajs/patches.js';
import type { FetchBudget } from './kafkajs/record-batches.js';
import {
  FETCH_MAX_WAIT_MS,
  FETCH_MIN_BYTES,
  type FetchLimits,
  MAX_BATCH_BYTES,
  PARTITION_CONCURRENCY,
} from './limits.js';
import { Membership } from './membership.js';
import { chunksOf, type KafkaRecord, toRecord } from './record.js';

const { KafkaJSNonRetriableError, PartitionAssigners } = kafkajs;

/** Consecutive records of one partition, in the order of their offsets. */
export interface Batch {
  topic: string;
  partition: number;
  records: readonly KafkaRecord[];
  /** Number of records after this batch. */
  lag: number;
  /** False once the partition may be assigned to another member. From then on, a write is useless, and a commit is rejected. */
  isAssigned(): boolean;
  /** Whether the group waits for this member to join again. Then a running write may end and be committed, but no new write begins. */
  isRebalancing(): boolean;
  /** Sends heartbeats until `work` settles; then rejects if a heartbeat failed. */
  withHeartbeats<T>(work: Promise<T>): Promise<T>;
  /**
   * Says that every record up to `last` is handled. Commits the offset after `last`, and moves the position of kafkajs there. After the
   * last record of the batch, lets the next batch of the partition begin.
   */
  done(last: KafkaRecord): Promise<void>;
}

export interface RunningConsumer {
  /** Number of records after the committed offset, for each partition of this member. */
  lag(): Promise<Map<number, bigint>>;
  /** Bytes of fetched records in memory, with their objects. */
  heldBytes(): number;
  /** Lets running batches end, and leaves the group. */
  stop(): Promise<void>;
  /** Resolves with the error that ended the consumer permanently. */
  failed: Promise<Error>;
}

export interface ConsumeOptions extends FetchLimits {
  topic: string;
  group: string;
  /** Called for several partitions concurrently, but for only one batch of each partition at a time. */
  onBatch(batch: Batch): Promise<void>;
  /** The records at the committed offset of a partition were deleted; reading continues with the oldest record. */
  onOffsetLost(): void;
}

/** Starts a consumer. Resolves once the consumer is connected; the consumer joins its group afterwards. */
export async function startConsumer(
  client: KafkaClient,
  admin: Pick<KafkaAdmin, 'lag'>,
  options: ConsumeOptions,
): Promise<RunningConsumer> {
  const { topic, group, partitionBytes, fetchBytes, heldBytes } = options;
  /**
   * Budgets of fetches, by broker. The consumer fetches from a broker again once the records of the last fetch from this broker were
   * handled.
   */
  const fetches = new Map<number, FetchBudget>();
  const underWay = new Set<Promise<void>>();
  const settled = () => Promise.allSettled(underWay);
  let isStopping = false;
  let isJoining = false;
  const consumer = client.consumer({
    groupId: group,
    minBytes: FETCH_MIN_BYTES,
    maxWaitTimeInMs: FETCH_MAX_WAIT_MS,
    maxBytesPerPartition: partitionBytes,
    partitionAssigners: [
      (config) => {
        const assigner = PartitionAssigners.roundRobin(config);
        groupListeners.set(assigner, {
          beforeFetch(consumerGroup, nodeId) {
            const brokers = Math.max(1, consumerGroup.getNodeIds().length);
            consumerGroup.maxBytes = Math.ceil(fetchBytes / brokers);
            const budget = { maxBytes: heldBytes / brokers, heldBytes: 0 };
            fetches.set(nodeId, budget);
            return budget;
          },
          async join(join, leave) {
            membership.isRebalancing = true;
            await settled();
            fetches.clear();
            membership.epoch++;
            if (isStopping) throw new KafkaJSNonRetriableError('the consumer stops');
            isJoining = true;
            await join().finally(() => {
              isJoining = false;
            });
            if (!isStopping) return;
            await leave();
            throw new KafkaJSNonRetriableError('the consumer stopped while it joined its group');
          },
        });
        return assigner;
      },
    ],
  });
  const membership = new Membership(consumer, topic, client.sessionMs);
  const failed = new Promise<Error>((resolve) => {
    consumer.on('consumer.crash', ({ payload }) => {
      if (!payload.restart) resolve(payload.error);
    });
  });
  const unsubscribe = client.onLog((message, details) => {
    if (!message.startsWith('Offset out of range, resetting')) return;
    if (details.topic === topic && details.groupId === group) options.onOffsetLost();
  });
  const stop = async () => {
    unsubscribe();
    isStopping = true;
    await settled();
    // Joining may wait for another member or for an unavailable broker. Closing the connection ends the joining.
    if (!isJoining) await client.disconnect(consumer);
    fetches.clear();
  };
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITION_CONCURRENCY,
      async eachBatch(payload) {
        // Keeps these records without handling them; otherwise, the consumer would fetch them again until it is disconnected.
        if (isStopping) return void (await settled());
        const work = consumeFetched(consumer, membership, payload, options, () => !isStopping);
        underWay.add(work);
        await work.finally(() => underWay.delete(work));
      },
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    failed,
    lag: async () => membership.assignedOf(await admin.lag(group, topic)),
    heldBytes: () => [...fetches.values()].reduce((sum, fetch) => sum + fetch.heldBytes, 0),
    stop,
  };
}

async function consumeFetched(
  consumer: Consumer,
  membership: Membership,
  { batch: fetched, heartbeat, resolveOffset }: EachBatchPayload,
  { topic, onBatch, maxBatchRecords }: ConsumeOptions,
  isRunning: () => boolean,
): Promise<void> {
  const { partition, messages, highWatermark } = fetched;
  const { epoch } = membership;
  const isAssigned = () => membership.isAssigned(partition, epoch);
  const mayContinue = () => isRunning() && !membership.isRebalancing && isAssigned();
  const commitThrough = (offset: string) => commitBefore(consumer, topic, partition, BigInt(offset) + 1n);
  // The fetch had nothing but transaction markers.
  if (messages.length === 0 && mayContinue()) {
    await commitThrough(fetched.lastOffset());
    resolveOffset(fetched.lastOffset());
  }
  for (const batch of chunksOf(messages, { maxRecords: maxBatchRecords, maxBytes: MAX_BATCH_BYTES })) {
    if (!mayContinue()) return;
    const { offset: last } = batch.at(-1) as KafkaMessage;
    let isDone = false;
    await onBatch({
      topic,
      partition,
      records: batch.map((message) => toRecord(partition, message)),
      lag: Number(BigInt(highWatermark) - BigInt(last) - 1n),
      isAssigned,
      isRebalancing: () => membership.isRebalancing,
      withHeartbeats: (work) => withHeartbeats(work, heartbeat, membership),
      async done({ offset }) {
        // The offset after the last record may be a transaction marker, which is not among the messages.
        const through = offset === messages.at(-1)?.offset ? fetched.lastOffset() : offset;
        await commitThrough(through);
        resolveOffset(through);
        isDone = offset === last;
      },
    });
    // The next batch must not be committed before this batch, so kafkajs fetches both again.
    if (!isDone) return;
    await heartbeat();
  }
}

/**
 * Commits the offset `next`. Rejects with the error of the coordinator itself: kafkajs wraps this error in an error that ends the consumer,
 * although the consumer only has to join its group again: https://github.com/tulios/kafkajs/issues/751
 */
async function commitBefore(
  consumer: Consumer,
  topic: string,
  partition: number,
  next: bigint,
): Promise<void> {
  try {
    await consumer.commitOffsets([{ topic, partition, offset: String(next) }]);
  } catch (error) {
    throw (error as Error).cause ?? error;
  }
}

async function withHeartbeats<T>(
  work: Promise<T>,
  heartbeat: () => Promise<void>,
  membership: Membership,
): Promise<T> {
  let failure: unknown;
  const timer = setInterval(() => {
    heartbeat().catch((error: { type?: string }) => {
      // The coordinator accepts commits of the members while it waits for the members to join again.
      if (error.type === 'REBALANCE_IN_PROGRESS') membership.isRebalancing = true;
      else failure ??= error;
    });
  }, membership.sessionMs / HEARTBEATS_PER_SESSION);
  const result = await work.finally(() => clearInterval(timer));
  if (failure) throw failure;
  return result;
}
