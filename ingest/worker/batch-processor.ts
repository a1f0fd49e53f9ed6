/**
 * Processes the batches of a stream. Timers, clock and random numbers are injected, so that a simulation can run the processor in one
 * thread.
 */

import { isSuppressed } from '../../services/contacts/suppression.js';
import { backoffMs, type Mutex, type TimeSlice } from '../../services/shared/async.js';
import { isStale } from '../../services/shared/record-order.js';
import type { UnknownFields } from '../../services/shared/settings.js';
import { decoder } from '../decode.js';
import {
  type DeadLetter,
  type DecodeOutcome,
  deadLetter,
  deadLetterOf,
  NOT_DECODABLE,
} from '../records/outcome.js';
import type { RawRecord } from '../records/raw-record.js';
import { openMessage } from '../sources/kafka/change-message.js';
import type { Batch } from '../sources/kafka/consumer.js';
import { RECORDS_AFTER_REJECTION } from '../sources/kafka/limits.js';
import type { KafkaRecord, Unreadable } from '../sources/kafka/record.js';
import { LINE_TOO_LONG, MAX_LINE_BYTES } from '../sources/lines.js';
import type { Stream } from '../streams/stream.js';
import { isOutage, type RejectedWrite } from '../write-records.js';
import { acceptedAtOf, type Rejection, type SendDeadLetters, sequenceOf } from './dead-letters.js';
import type { RecordWriter } from './record-writer.js';

export interface BatchProcessorDeps {
  writer: RecordWriter;
  sendDeadLetters: SendDeadLetters;
  /** Mutex that all partitions share, so that one batch is decoded while another batch is written. */
  decoding: Pick<Mutex, 'runExclusive'>;
  /** Called when the store has written or rejected records, or an offset was committed. */
  onProgress(): void;
  onCommitted(committed: CommittedRecords): void;
  /** Called when the store is unavailable and the write of `waiting` will be retried. */
  onOutage(error: unknown, waiting: readonly KafkaRecord[], retries: number): void;
  /** Called when decoding a record failed with an unexpected error; the record becomes a dead letter. */
  onFault?(error: unknown, record: KafkaRecord): void;
  /** Aborts running batches. */
  signal: AbortSignal;
  /** Resolves after `milliseconds`, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** What the worker does with fields that the stream does not have; default `reject`. */
  unknownFields?: UnknownFields;
  /** Maximum records of a write after a rejection; by default `RECORDS_AFTER_REJECTION`. */
  recordsAfterRejection?: number;
  /** Monotonic time in milliseconds. */
  now(): number;
  /** Source of random numbers from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  /** Creates a time slice, so that other work runs while the records of one batch are decoded. */
  newTimeSlice(): Pick<TimeSlice, 'shouldYield' | 'yieldToEventLoop'>;
}

/** Records that are stored or dead-lettered, and whose offset is committed. */
export interface CommittedRecords {
  partition: number;
  records: readonly KafkaRecord[];
  rejected: readonly Rejection[];
  /** Records that had no effect, because a newer record of their key exists. */
  stale: number;
  /** Number of records in the partition after these records. */
  lag: number;
  /** Time when the batch of these records was started, as returned by `now`. */
  startedMs: number;
}

/**
 * Processes one batch. An offset is committed only after every record up to it is stored or dead-lettered; otherwise the records are
 * delivered again, and writing them again changes nothing. Resolves without a commit if the partition is assigned to another member, if the
 * store is unavailable while the group rebalances, or if the signal is aborted. Rejects if dead letters cannot be sent, the offset cannot
 * be committed, or the writer fails with an `UnexpectedWriteError`.
 */
export function createBatchProcessor(
  stream: Stream,
  deps: BatchProcessorDeps,
): (batch: Batch) => Promise<void> {
  const decode = createBatchDecoder(stream, deps);
  const { recordsAfterRejection = RECORDS_AFTER_REJECTION } = deps;
  return async (batch) => {
    const startedMs = deps.now();
    let rest = await batch.withHeartbeats(deps.decoding.runExclusive(() => decode(batch)));
    let size = rest.length;
    while (rest.length > 0) {
      const part = rest.slice(0, size);
      const result = await writeWithRetry(deps, batch, part, size > recordsAfterRejection);
      if (result === 'aborted') return;
      if (result === 'split') {
        size = recordsAfterRejection;
        continue;
      }
      const rejected = rejectionsOf(part, result);
      if (rejected.length > 0) await batch.withHeartbeats(deps.sendDeadLetters(batch, rejected));
      if (deps.signal.aborted || !batch.isAssigned()) return;
      rest = rest.slice(size);
      const records = part.map(({ record }) => record);
      await batch.done(records.at(-1) as KafkaRecord);
      deps.onProgress();
      const { partition, lag } = batch;
      const stale = result.filter(({ reason }) => isStale(reason)).length;
      deps.onCommitted({ partition, records, rejected, stale, lag: lag + rest.length, startedMs });
    }
  };
}

/**
 * Writes records, and retries while the store is unavailable, the partition is assigned and the group does not rebalance. Resolves with the
 * rejected records, or with `split` if the store rejected a batch that must be written in smaller batches.
 */
async function writeWithRetry(
  { writer, onProgress, onOutage, signal, sleep, random }: BatchProcessorDeps,
  batch: Batch,
  part: readonly DecodedRecord[],
  canSplit: boolean,
): Promise<RejectedWrite[] | 'split' | 'aborted'> {
  const records = part.map(({ outcome }) => outcome).filter((outcome) => outcome.kind === 'ok');
  if (records.length === 0) return [];
  const write = () => (canSplit ? writer.writeWhole(records, onProgress) : writer.write(records, onProgress));
  for (let retries = 0; batch.isAssigned() && !signal.aborted; retries++) {
    try {
      return await batch.withHeartbeats(abortable(write(), signal));
    } catch (error) {
      if (signal.aborted) break;
      if (!isOutage(error)) throw error;
      onOutage(
        error,
        part.map(({ record }) => record),
        retries,
      );
    }
    if (batch.isRebalancing()) break;
    await batch.withHeartbeats(sleep(backoffMs(retries, WRITE_BACKOFF, random()), signal));
    if (batch.isRebalancing()) break;
  }
  return 'aborted';
}

/** Rejections in the order of their offsets. Indices in `rejectedWrites` count only decoded records. */
function rejectionsOf(part: readonly DecodedRecord[], rejectedWrites: readonly RejectedWrite[]): Rejection[] {
  // Dead letters would keep erased data. A record that had no effect needs no dead letter.
  const kept = rejectedWrites.filter(({ reason }) => !isSuppressed(reason) && !isStale(reason));
  const reasons = new Map(kept.map(({ index, reason }) => [index, reason]));
  const rejected: Rejection[] = [];
  let index = 0;
  for (const { record, outcome } of part) {
    if (outcome.kind !== 'ok') rejected.push({ record, reason: outcome, stage: 'decode' });
    else {
      if (reasons.has(index))
        rejected.push({ record, reason: deadLetterOf(reasons.get(index)), stage: 'write' });
      index++;
    }
  }
  return rejected;
}

const WRITE_BACKOFF = { firstMs: 250, maxMs: 5000 };

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

interface DecodedRecord {
  record: KafkaRecord;
  outcome: DecodeOutcome<object>;
}

function unreadableLetter({ reason, first, last }: Unreadable): DeadLetter {
  const records =
    first === last ? `The record at offset ${first}` : `The records at offsets ${first} to ${last}`;
  return reason === 'too large'
    ? deadLetter(
        'batch_too_large',
        '',
        `${records} came in a batch that has too many bytes when decompressed.`,
      )
    : deadLetter('batch_corrupt', '', `${records} came in a batch that cannot be decompressed.`);
}

type Deletion = { deleted?: boolean; updated_at?: string | null };

const NO_BYTES = Buffer.alloc(0);
const NO_KEY = { key: null };

function createBatchDecoder(
  stream: Stream,
  {
    newTimeSlice,
    unknownFields,
    onFault,
  }: Pick<BatchProcessorDeps, 'newTimeSlice' | 'unknownFields' | 'onFault'>,
): (batch: Batch) => Promise<DecodedRecord[]> {
  const decode = decoder(
    stream,
    { others: 'allow' },
    {
      open: (value, { keyed = NO_KEY }) => openMessage(value, keyed, stream, deletedAt),
      unknownFields,
      onFault(error) {
        fault = error;
      },
    },
  );
  let fault: unknown;
  /** Time of the deletion to which the current tombstone belongs. */
  let deletedAt: string | undefined;
  /** Deletions that are the last record of their partition so far. */
  const deletions = new Map<number, { key: Buffer; updatedAt: string }>();
  const outcomeOf = (record: KafkaRecord): DecodeOutcome<object> => {
    const { value, unreadable } = record;
    if (unreadable) return unreadableLetter(unreadable);
    if (value !== null && value.length > MAX_LINE_BYTES) return LINE_TOO_LONG;
    const before = deletions.get(record.partition);
    const isTombstoneOf = value === null && before !== undefined && record.key?.equals(before.key);
    deletedAt = isTombstoneOf ? before.updatedAt : undefined;
    const raw: RawRecord =
      value === null
        ? { line: 0, keyed: record, bytes: NO_BYTES, value }
        : { line: 0, keyed: record, bytes: value };
    const outcome = decode(raw, acceptedAtOf(record), sequenceOf(record));
    const { deleted, updated_at: updatedAt } = ('record' in outcome ? outcome.record : {}) as Deletion;
    if (deleted && updatedAt && record.key) deletions.set(record.partition, { key: record.key, updatedAt });
    else deletions.delete(record.partition);
    return outcome;
  };
  return async ({ records }) => {
    const decoded: DecodedRecord[] = [];
    const slice = newTimeSlice();
    for (const record of records) {
      const outcome = outcomeOf(record);
      if (outcome === NOT_DECODABLE) onFault?.(fault, record);
      decoded.push({ record, outcome });
      if (slice.shouldYield()) await slice.yieldToEventLoop();
    }
    return decoded;
  };
}
