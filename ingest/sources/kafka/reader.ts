import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { type KafkaRecord, toRecord } from './record.js';

/** What a reader of a topic may do between records. */
export interface ReadProgress {
  /** Sends a heartbeat if one is due. Needed at least once per session while the records are worked on. */
  heartbeat(): Promise<void>;
  /** Commits the records given, for the next reader of the group. */
  commit(): Promise<void>;
}

export interface ReadOptions {
  topic: string;
  /** Where to stop, by partition: the offset behind the last record. Others are not read. */
  ends: ReadonlyMap<number, bigint>;
  /** Where to begin, by partition; with what the group committed, or else the oldest record, when absent. */
  from?: ReadonlyMap<number, string>;
  /** Most records of one call, if less than 500. */
  recordsAtOnce?: number;
  /** Called with neighbouring records of one partition. Resolves with false to end. */
  onRecords(records: KafkaRecord[], progress: ReadProgress): Promise<boolean>;
}

/** Most records of one call. */
const RECORDS_PER_CALL = 500;
/** Less than any topic lets a batch have, so that what was read together can be sent together. */
const BYTES_PER_CALL = 1024 * 1024;

/** Somebody else joined the group, and was assigned what this reader reads. */
export class ReaderConflictError extends Error {
  override readonly name = 'ReaderConflictError';

  constructor(topic: string) {
    super(`Another process reads ${topic} for the same purpose. Let it end, then try again.`);
  }
}

/** Reads a topic up to its end with a consumer that is connected to nothing yet. Each record is given once by this call. */
export async function readTopic(consumer: Consumer, options: ReadOptions): Promise<void> {
  const { topic, from = new Map<number, string>() } = options;
  const ends = new Map(options.ends);
  const next = new Map([...from].map(([partition, offset]) => [partition, BigInt(offset)]));
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise<void>((fulfill, fail) => {
    // Until it is disconnected the consumer goes on, but nothing is given any more.
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
    // Markers of transactions and nothing else: `eachBatch` is not called.
    consumer.on('consumer.end_batch_process', ({ payload }) => {
      if (payload.batchSize === 0) read(payload.partition, payload.lastOffset);
    });
    const eachBatch = async (payload: EachBatchPayload) => {
      const { batch, heartbeat, isRunning, resolveOffset } = payload;
      const { partition } = batch;
      const end = ends.get(partition);
      if (end === undefined) return;
      const first = next.get(partition) ?? 0n;
      const wanted = batch.messages.filter(({ offset }) => BigInt(offset) >= first && BigInt(offset) < end);
      for (const messages of chunksOf(wanted, options.recordsAtOnce)) {
        if (!isRunning()) return;
        const { offset } = messages.at(-1) as KafkaMessage;
        const commit = async () => {
          const committed = { partition, offset: String(BigInt(offset) + 1n) };
          await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions: [committed] }] });
        };
        const goOn = await options.onRecords(
          messages.map((message) => toRecord(partition, message)),
          { heartbeat, commit },
        );
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
  });
}

function* chunksOf(
  messages: readonly KafkaMessage[],
  recordsAtOnce = RECORDS_PER_CALL,
): Generator<KafkaMessage[]> {
  const most = Math.min(recordsAtOnce, RECORDS_PER_CALL);
  let chunk: KafkaMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = bytesOf(message);
    if (chunk.length > 0 && (chunk.length === most || bytes + size > BYTES_PER_CALL)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(message);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}

function bytesOf({ key, value, headers = {} }: KafkaMessage): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, values] of Object.entries(headers)) {
    for (const each of [values].flat()) bytes += name.length + (each?.length ?? 0);
  }
  return bytes;
}
