/** A member of a group that hands the batches of a topic to a callback, and commits their offsets. */
import kafkajs, {
  type Consumer,
  type EachBatchPayload,
  type KafkaMessage,
  type PartitionAssigner,
} from 'kafkajs';
import type { Fetched } from 'kafkajs/src/consumer/consumerGroup.js';
import type { KafkaAdmin } from './admin.js';
import {
  FETCH_MAX_BYTES,
  FETCH_MAX_WAIT_MS,
  FETCH_MIN_BYTES,
  MAX_BATCH_BYTES,
  PARTITION_CONCURRENCY,
} from './batch-size.js';
import { HEARTBEATS_PER_SESSION, type KafkaClient } from './client.js';
import { InFlightRanges } from './in-flight.js';
import { Membership, rangeOf } from './membership.js';
import { groupListeners } from './patches.js';
import { type KafkaRecord, toRecord } from './record.js';

const { PartitionAssigners } = kafkajs;

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
  /** Fetch size of a partition. Its next fetch waits until the batches of this one are started, and so do the other partitions. */
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
  const assigner: PartitionAssigner = (config) => {
    const roundRobin = PartitionAssigners.roundRobin(config);
    groupListeners.set(roundRobin, {
      onFetch: (fetched) => membership.onFetch(fetched),
      async beforeJoin(consumerGroup) {
        membership.isRebalancing = true;
        await inFlight.settled();
        membership.joins(consumerGroup);
      },
    });
    return roundRobin;
  };
  const consumer = client.consumer({
    groupId: group,
    minBytes: FETCH_MIN_BYTES,
    maxWaitTimeInMs: FETCH_MAX_WAIT_MS,
    maxBytesPerPartition: options.fetchBytes,
    maxBytes: FETCH_MAX_BYTES,
    partitionAssigners: [assigner],
  });
  const membership = new Membership(consumer, topic, client.sessionMs);
  const inFlight = new InFlightRanges(membership);
  let isStopping = false;
  const failed = new Promise<Error>((resolve) => {
    consumer.on('consumer.crash', ({ payload }) => {
      if (!payload.restart) resolve(payload.error);
    });
  });
  /** Whether a partition may be worked on until it is assigned anew. */
  const mayContinueWith = (partition: number) => {
    const { epoch } = membership;
    return () => !isStopping && !membership.isRebalancing && membership.isAssigned(partition, epoch);
  };
  consumer.on('consumer.end_batch_process', ({ payload: { batchSize, partition, lastOffset } }) => {
    // Transaction markers alone: `eachBatch` is not called.
    const range = batchSize === 0 ? membership.lastFetched(partition, lastOffset) : undefined;
    if (!range) return;
    void inFlight.startHandled(range, mayContinueWith(partition), async (committed) => {
      await commitBefore(consumer, membership, topic, partition, range.next);
      committed(range.next);
    });
  });
  const unsubscribe = client.onLog((message, details) => {
    if (!message.startsWith('Offset out of range, resetting')) return;
    if (details.topic !== topic || details.groupId !== group) return;
    inFlight.allowGap(details.partition as number);
    membership.offsetLost(details.partition as number);
    options.onOffsetLost();
  });
  const stop = async () => {
    unsubscribe();
    isStopping = true;
    await inFlight.settled();
    await client.disconnect(consumer);
  };
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITION_CONCURRENCY,
      async eachBatch(payload) {
        const range = rangeOf(payload.batch as Fetched & typeof payload.batch);
        const mayContinue = mayContinueWith(range.partition);
        await inFlight.start(range, mayContinue, (onCommitted) =>
          consumeRange(consumer, membership, payload, options, mayContinue, onCommitted),
        );
        // What arrives now is fetched again until the consumer is disconnected.
        if (isStopping) await inFlight.settled();
      },
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

async function consumeRange(
  consumer: Consumer,
  membership: Membership,
  { batch: fetched, heartbeat }: Pick<EachBatchPayload, 'batch' | 'heartbeat'>,
  { topic, onBatch, maxBatchRecords }: ConsumeOptions,
  mayContinue: () => boolean,
  onCommitted: (next: bigint) => void,
): Promise<void> {
  const { partition, messages, highWatermark } = fetched;
  const { epoch } = membership;
  const isAssigned = () => membership.isAssigned(partition, epoch);
  for (const batch of batchesOf(messages, maxBatchRecords)) {
    if (!mayContinue()) return;
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
        // A transaction marker may follow the last record, and is not among the messages.
        const through = offset === messages.at(-1)?.offset ? fetched.lastOffset() : offset;
        const next = BigInt(through) + 1n;
        await commitBefore(consumer, membership, topic, partition, next);
        onCommitted(next);
        isCommitted = offset === last;
      },
    });
    // The next batch must not be committed before this one: both are fetched again.
    if (!isCommitted) return;
    await heartbeat();
  }
}

/**
 * Commits the offset `next`. Rejects with the error of the coordinator: kafkajs wraps it in an error that ends the consumer, although
 * it only has to join its group again: https://github.com/tulios/kafkajs/issues/751
 */
async function commitBefore(
  consumer: Consumer,
  membership: Membership,
  topic: string,
  partition: number,
  next: bigint,
): Promise<void> {
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
