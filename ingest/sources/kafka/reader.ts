/** Reads a topic up to the end that the topic has when reading starts. */
import { randomUUID } from 'node:crypto';
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { PeriodicJob } from '../../../services/shared/periodic-job.js';
import type { KafkaAdmin } from './admin.js';
import type { KafkaClient } from './client.js';
import { READ_LIMITS } from './limits.js';
import { chunksOf, type KafkaRecord, toRecord } from './record.js';

/** Actions that a reader of a topic may take between records. */
export interface ReadProgress {
  /** Sends a heartbeat if one is due. While callers process records, they must call this at least once per session timeout. */
  heartbeat(): Promise<void>;
  /** Commits the records passed so far, for the next reader of the group. */
  commit(): Promise<void>;
}

/** Called with consecutive records of one partition. Resolves with false to end the reading. */
export type OnRecords = (records: KafkaRecord[], progress: ReadProgress) => Promise<boolean>;

export interface ReadOptions {
  /** Group whose offsets are committed, so that the group gets each record once. */
  group?: string;
  /** Offsets to begin with, by partition; by default the oldest record. Ignored with a group. */
  from?: ReadonlyMap<number, string>;
  /** Partitions to read, with their end offsets (exclusive); by default all partitions to their ends. */
  until?: ReadonlyMap<number, bigint>;
  /** Maximum records per call of `onRecords`, if lower than `READ_LIMITS.maxRecords`. */
  maxRecords?: number;
}

/** Another process joined the group, and was assigned partitions of this reader. */
export class ReaderConflictError extends Error {
  override readonly name = 'ReaderConflictError';

  constructor(topic: string) {
    super(`Another process reads ${topic} for the same purpose. Let it end, then try again.`);
  }
}

/**
 * Reads the current content of a topic. A group gets each record once, from its committed offsets on. Throws `ReaderConflictError` if
 * another process of the group reads too. Without a group, reads from the given offsets or the oldest record.
 */
export async function readTopic(
  client: KafkaClient,
  admin: Pick<KafkaAdmin, 'committed' | 'offsets' | 'deleteGroup'>,
  topic: string,
  onRecords: OnRecords,
  { group, from, until, maxRecords = READ_LIMITS.maxRecords }: ReadOptions = {},
): Promise<void> {
  const groupId = group ?? `reachline-reader-${randomUUID()}`;
  // Required for a new group too: this request waits until the coordinator has loaded, which a joining consumer does not.
  const committed = await admin.committed(groupId, topic);
  const begin = group === undefined ? from : committed;
  const starts = new Map<number, bigint>();
  const ends = new Map<number, bigint>();
  for (const [partition, { low, high }] of await admin.offsets(topic)) {
    const wanted = BigInt(begin?.get(partition) ?? low);
    const start = wanted > low ? wanted : low;
    const last = until ? until.get(partition) : high;
    const end = last !== undefined && last < high ? last : high;
    if (last === undefined || end <= start) continue;
    ends.set(partition, end);
    if (group === undefined) starts.set(partition, start);
  }
  if (ends.size === 0) return;
  const limits = { ...READ_LIMITS, maxRecords: Math.min(maxRecords, READ_LIMITS.maxRecords) };
  // A failure is reported instead of restarting the consumer, because the consumer joins at once and is done soon.
  const consumer = client.consumer({ groupId, retry: { restartOnFailure: async () => false } });
  try {
    const oldest = async () =>
      new Map([...(await admin.offsets(topic))].map(([partition, { low }]) => [partition, low]));
    await readUpTo(consumer, topic, { starts, ends, limits, onRecords, oldest });
  } finally {
    await client.disconnect(consumer);
    if (group === undefined) await admin.deleteGroup(groupId).catch(() => undefined);
  }
}

interface ReadBounds {
  /** Offsets to begin with, by partition; by default the committed offset, otherwise the oldest record. */
  starts: ReadonlyMap<number, bigint>;
  /** The offset after the last record to read, by partition. Other partitions are not read. */
  ends: ReadonlyMap<number, bigint>;
  limits: typeof READ_LIMITS;
  onRecords: OnRecords;
  /** Offsets of the records that are the oldest now, by partition. */
  oldest(): Promise<ReadonlyMap<number, bigint>>;
}

async function readUpTo(
  consumer: Consumer,
  topic: string,
  { starts, limits, onRecords, oldest, ...bounds }: ReadBounds,
): Promise<void> {
  const ends = new Map(bounds.ends);
  const next = new Map(starts);
  let ended = () => {};
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise<void>((fulfill, fail) => {
    // The consumer continues until it is disconnected, but passes on no more records, because `ends` is empty.
    const resolve = () => {
      ends.clear();
      fulfill();
    };
    const reject = (error: unknown) => {
      ends.clear();
      fail(error);
    };
    const read = (partition: number, last: string) => {
      next.set(partition, BigInt(last) + 1n);
      const end = ends.get(partition);
      if (end !== undefined && BigInt(last) + 1n >= end) ends.delete(partition);
      if (ends.size === 0) resolve();
    };
    consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
    consumer.on('consumer.group_join', ({ payload }) => {
      const assigned = new Set(payload.memberAssignment[topic]);
      if ([...ends.keys()].some((partition) => !assigned.has(partition))) {
        reject(new ReaderConflictError(topic));
        return;
      }
      for (const [partition, offset] of next) {
        if (ends.has(partition)) consumer.seek({ topic, partition, offset: String(offset) });
      }
    });
    const eachBatch = async (payload: EachBatchPayload) => {
      const { batch, heartbeat, isRunning, resolveOffset } = payload;
      const { partition } = batch;
      const end = ends.get(partition);
      if (end === undefined) return;
      const first = next.get(partition) ?? 0n;
      const wanted = batch.messages.filter(({ offset }) => BigInt(offset) >= first && BigInt(offset) < end);
      for (const messages of chunksOf(wanted, limits)) {
        if (!isRunning()) return;
        const { offset } = messages.at(-1) as KafkaMessage;
        const commit = async () => {
          const committed = { partition, offset: String(BigInt(offset) + 1n) };
          await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions: [committed] }] });
        };
        const records = messages.map((message) => toRecord(partition, message));
        const goOn = await onRecords(records, { heartbeat, commit });
        next.set(partition, BigInt(offset) + 1n);
        resolveOffset(offset);
        if (!goOn) {
          resolve();
          return;
        }
        await heartbeat();
      }
      read(partition, batch.lastOffset());
    };
    consumer.run({ autoCommit: false, eachBatchAutoResolve: true, eachBatch }).catch(reject);
    // Retention may delete all remaining records; in that case, no record would arrive.
    const looking = new PeriodicJob(
      async () => {
        const lows = await oldest();
        for (const [partition, end] of ends) if ((lows.get(partition) ?? 0n) >= end) ends.delete(partition);
        if (ends.size === 0) resolve();
      },
      {
        name: 'oldest records',
        intervalMs: LOOK_INTERVAL_MS,
        failure: 'the oldest records of a topic cannot be found',
      },
    ).start();
    ended = () => void looking.stop();
  }).finally(() => ended());
}

/** Mean milliseconds between two checks of what retention has deleted. */
const LOOK_INTERVAL_MS = 5000;
