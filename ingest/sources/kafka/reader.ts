/** Reads what a topic holds, up to its end at the start. */
import { randomUUID } from 'node:crypto';
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { PeriodicJob } from '../../../services/shared/periodic-job.js';
import type { KafkaAdmin } from './admin.js';
import type { KafkaClient } from './client.js';
import { READ_LIMITS } from './limits.js';
import { chunksOf, type KafkaRecord, toRecord } from './record.js';

/** Actions that a reader of a topic may take between records. */
export interface ReadProgress {
  /** Sends a heartbeat if one is due. Needed at least once per session while the records are worked on. */
  heartbeat(): Promise<void>;
  /** Commits the records given, for the next reader of the group. */
  commit(): Promise<void>;
}

/** Called with consecutive records of one partition. Resolves with false to end. */
export type OnRecords = (records: KafkaRecord[], progress: ReadProgress) => Promise<boolean>;

export interface ReadOptions {
  /** Commits the records, and gives each once. */
  group?: string;
  /** Offsets to begin with, by partition; the oldest record when absent. Ignored with a group. */
  from?: ReadonlyMap<number, string>;
  /** Only these partitions, up to these offsets (exclusive); all there is when absent. */
  until?: ReadonlyMap<number, bigint>;
  /** Most records of one call, if less than `READ_LIMITS.maxRecords`. */
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
 * Reads what a topic holds now. With a group, each record is given to it once, from its committed offsets on; throws
 * `ReaderConflictError` when another process of the group reads too. Without one, from the offsets given or the oldest record.
 */
export async function readTopic(
  client: KafkaClient,
  admin: Pick<KafkaAdmin, 'committed' | 'offsets' | 'deleteGroup'>,
  topic: string,
  onRecords: OnRecords,
  { group, from, until, maxRecords = READ_LIMITS.maxRecords }: ReadOptions = {},
): Promise<void> {
  const groupId = group ?? `reachline-reader-${randomUUID()}`;
  // Of a new group too: this waits until the coordinator has loaded, which a consumer that joins does not.
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
  // It joins at once and is done soon; a reader that fails says so instead of starting again.
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
  /** Offsets to begin with, by partition; the committed offset, or else the oldest record, when absent. */
  starts: ReadonlyMap<number, bigint>;
  /** The offset behind the last record, by partition. Others are not read. */
  ends: ReadonlyMap<number, bigint>;
  limits: typeof READ_LIMITS;
  onRecords: OnRecords;
  /** Offsets of the oldest records now, by partition. */
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
    // The consumer continues until it is disconnected; without ends no record is given any more.
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
    // Retention may delete all that is left to read, and nothing would arrive any more.
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

/** Mean time between two checks of what retention has deleted meanwhile. */
const LOOK_INTERVAL_MS = 5000;
