/** A member of a group that hands the batches of a topic to a callback, and commits their offsets. */
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { KafkaAdmin } from './admin.js';
import {
  FETCH_MAX_BYTES,
  FETCH_MAX_WAIT_MS,
  FETCH_MIN_BYTES,
  MAX_BATCH_BYTES,
  PARTITION_CONCURRENCY,
} from './batch-size.js';
import { HEARTBEATS_PER_SESSION, type KafkaClient } from './client.js';
import { Membership } from './membership.js';
import { type KafkaRecord, toRecord } from './record.js';

/** Consecutive records of one partition, in the order of their offsets. */
export interface Batch {
  topic: string;
  partition: number;
  records: readonly KafkaRecord[];
  /** Records behind these. */
  lag: number;
  /** False once the partition may be assigned to another member: a write is of no use then, and a commit is rejected. */
  isAssigned(): boolean;
  /** The group waits for this member to join again: a write under way may end and be committed, and no other begins. */
  isRebalancing(): boolean;
  /** Sends heartbeats until `work` settles; then rejects if one of them failed. */
  withHeartbeats<T>(work: Promise<T>): Promise<T>;
  /** Commits the offset behind a record of the batch. */
  commit(last: KafkaRecord): Promise<void>;
}

export interface RunningConsumer {
  /** Records behind the committed offset, by partition of this member. */
  lag(): Promise<Map<number, bigint>>;
  /** Lets the batches under way end, and leaves the group. */
  stop(): Promise<void>;
  /** Resolves with the error that ended the consumer for good. */
  failed: Promise<Error>;
}

export interface ConsumeOptions {
  topic: string;
  group: string;
  maxBatchRecords: number;
  /** Fetch size of a partition: its next fetch waits for these batches, and so do the other partitions. */
  fetchBytes: number;
  /** Called for several partitions at the same time, and for one batch of a partition at a time. */
  onBatch(batch: Batch): Promise<void>;
  /** The records at the committed offset of a partition were deleted; reading continues with the oldest record. */
  onOffsetLost(): void;
}

/** Resolves once the consumer is connected; it joins its group afterwards. */
export async function startConsumer(
  client: KafkaClient,
  admin: Pick<KafkaAdmin, 'lag'>,
  options: ConsumeOptions,
): Promise<RunningConsumer> {
  const { topic, group } = options;
  const consumer = client.consumer({
    groupId: group,
    minBytes: FETCH_MIN_BYTES,
    maxWaitTimeInMs: FETCH_MAX_WAIT_MS,
    maxBytesPerPartition: options.fetchBytes,
    maxBytes: FETCH_MAX_BYTES,
  });
  const membership = new Membership(consumer, topic, client.sessionMs);
  const failed = new Promise<Error>((resolve) => {
    consumer.on('consumer.crash', ({ payload }) => {
      if (!payload.restart) resolve(payload.error);
    });
  });
  consumer.on('consumer.end_batch_process', ({ payload: { batchSize, partition, lastOffset } }) => {
    // Transaction markers alone: `eachBatch` is not called.
    if (batchSize === 0)
      commitThrough(consumer, membership, topic, partition, lastOffset).catch(() => undefined);
  });
  const unsubscribe = client.onLog((message, details) => {
    if (!message.startsWith('Offset out of range, resetting')) return;
    if (details.topic === topic && details.groupId === group) options.onOffsetLost();
  });
  const stop = async () => {
    unsubscribe();
    await client.disconnect(consumer);
    membership.end();
  };
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITION_CONCURRENCY,
      eachBatch: (payload) => consumeFetched(consumer, membership, payload, options),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    failed,
    lag: async () => membership.lag() ?? membership.assignedOf(await admin.lag(group, topic)),
    stop,
  };
}

async function consumeFetched(
  consumer: Consumer,
  membership: Membership,
  { batch: fetched, heartbeat, isRunning, isStale, resolveOffset }: EachBatchPayload,
  { topic, onBatch, maxBatchRecords }: ConsumeOptions,
): Promise<void> {
  const { partition, messages, highWatermark } = fetched;
  const { epoch } = membership;
  const isAssigned = () => !isStale() && membership.isAssigned(partition, epoch);
  for (const batch of batchesOf(messages, maxBatchRecords)) {
    if (!isRunning() || !isAssigned() || membership.isRebalancing) return;
    const { offset: last } = batch.at(-1) as KafkaMessage;
    let isCommitted = false;
    await onBatch({
      topic,
      partition,
      records: batch.map((message) => toRecord(partition, message)),
      lag: Number(BigInt(highWatermark) - BigInt(last) - 1n),
      isAssigned,
      isRebalancing: () => membership.isRebalancing,
      withHeartbeats: (work) => withHeartbeats(work, heartbeat, membership),
      async commit({ offset }) {
        resolveOffset(offset);
        // A transaction marker may follow the last record, and is not among the messages.
        const through = offset === messages.at(-1)?.offset ? fetched.lastOffset() : offset;
        await commitThrough(consumer, membership, topic, partition, through);
        isCommitted = offset === last;
      },
    });
    // The next batch must not be committed before this one: both are fetched again.
    if (!isCommitted) return;
    await heartbeat();
  }
}

/**
 * Commits the offset behind `last`. Rejects with the error of the coordinator: kafkajs wraps it in an error that ends the consumer,
 * although it only has to join its group again: https://github.com/tulios/kafkajs/issues/751
 */
async function commitThrough(
  consumer: Consumer,
  membership: Membership,
  topic: string,
  partition: number,
  last: string,
): Promise<void> {
  const next = BigInt(last) + 1n;
  try {
    await consumer.commitOffsets([{ topic, partition, offset: String(next) }]);
    membership.committed(partition, next);
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
      // The coordinator takes commits of its members for as long as it waits for them to join again.
      if (error.type === 'REBALANCE_IN_PROGRESS') membership.isRebalancing = true;
      else failure ??= error;
    });
  }, membership.sessionMs / HEARTBEATS_PER_SESSION);
  const result = await work.finally(() => clearInterval(timer));
  if (failure) throw failure;
  return result;
}

function* batchesOf(messages: readonly KafkaMessage[], maxRecords: number): Generator<KafkaMessage[]> {
  let batch: KafkaMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    batch.push(message);
    bytes += message.value?.length ?? 0;
    if (batch.length < maxRecords && bytes < MAX_BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
