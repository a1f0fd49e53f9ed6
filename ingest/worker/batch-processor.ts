/**
 * What becomes of a batch. Plain functions over what is given to them: they hold no timer, clock or source of chance of their own,
 * so that a simulation can run them in one thread.
 */

import type { Turn } from '../../services/shared/event-loop-yield.js';
import type { OneAtATime } from '../../services/shared/mutex.js';
import { decoder } from '../decode.js';
import { type DeadLetter, type DecodeOutcome, deadLetter, refusedBy } from '../records/outcome.js';
import { RECORDS_AFTER_REJECTION } from '../sources/kafka/batch-size.js';
import type { Batch } from '../sources/kafka/consumer.js';
import type { KafkaRecord } from '../sources/kafka/record.js';
import type { Unreadable } from '../sources/kafka/record-batches.js';
import { MAX_LINE_BYTES } from '../sources/lines.js';
import type { Stream } from '../streams/stream.js';
import { isOutage, type Refused } from '../write-records.js';
import { acceptedAtOf, type RefusedRecord, type SendDeadLetters, sequenceOf } from './dead-letters.js';
import type { RecordWriter } from './record-writer.js';

export interface BatchProcessorDeps {
  writer: RecordWriter;
  sendDeadLetters: SendDeadLetters;
  /** Decodes batches of all partitions one after another, so that the first is written while the second is decoded. */
  decoding: OneAtATime;
  /** The store has taken or refused something, or an offset was committed. */
  onProgress(): void;
  onCommitted(committed: CommittedRecords): void;
  /** The store is out; the records given wait for it. */
  onOutage(error: unknown, waiting: readonly KafkaRecord[], retries: number): void;
  /** Ends the work on batches, wherever it is. */
  signal: AbortSignal;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds that only grow. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** Lets other work run while the records of one batch are decoded. */
  newTurn(): Pick<Turn, 'isOver' | 'end'>;
}

/** Records of a batch that are in the store or among the dead letters, and whose offset is committed. */
export interface CommittedRecords {
  partition: number;
  records: readonly KafkaRecord[];
  refused: readonly RefusedRecord[];
  /** Records of the partition behind these. */
  lag: number;
  /** When their batch was begun, as `now` says. */
  begunMs: number;
}

/**
 * Processes one batch. An offset is committed only once every record up to it is safe: in the store, or among the dead letters.
 * Whatever happens before, the records come again, here or elsewhere, and applying them again changes nothing. Resolves without a
 * commit when the partition is lost, when the store is out and the group waits for this member, or when the signal is aborted.
 * Rejects when dead letters cannot be sent or the offset cannot be committed.
 */
export function createBatchProcessor(
  stream: Stream,
  deps: BatchProcessorDeps,
): (batch: Batch) => Promise<void> {
  const decode = createBatchDecoder(stream, deps.newTurn);
  return async (batch) => {
    const begunMs = deps.now();
    let rest = await batch.withHeartbeats(deps.decoding(() => decode(batch)));
    let size = rest.length;
    while (rest.length > 0) {
      const part = rest.slice(0, size);
      const unwritten = await writeWithRetry(deps, batch, part, size > RECORDS_AFTER_REJECTION);
      if (unwritten === 'aborted') return;
      if (unwritten === 'split') {
        size = RECORDS_AFTER_REJECTION;
        continue;
      }
      const refused = refusedOf(part, unwritten);
      if (refused.length > 0) await batch.withHeartbeats(deps.sendDeadLetters(batch, refused));
      if (deps.signal.aborted || !batch.isAssigned()) return;
      rest = rest.slice(size);
      const records = part.map(({ record }) => record);
      await batch.commit(records.at(-1) as KafkaRecord);
      deps.onProgress();
      const { partition, lag } = batch;
      deps.onCommitted({ partition, records, refused, lag: lag + rest.length, begunMs });
    }
  };
}

/**
 * Resolves with the records the store refused, each by itself; with `split` when a batch that is to be written by parts was refused.
 * A store that is out is waited for, as long as the partition is assigned and the group does not wait for this member.
 */
async function writeWithRetry(
  { writer, onProgress, onOutage, signal, sleep, random }: BatchProcessorDeps,
  batch: Batch,
  part: readonly DecodedRecord[],
  canSplit: boolean,
): Promise<Refused[] | 'split' | 'aborted'> {
  const records = part.flatMap(({ outcome }) => (outcome.kind === 'ok' ? [outcome] : []));
  if (records.length === 0) return [];
  const write = async () => {
    if (!canSplit) return writer.write(records, onProgress);
    return (await writer.writeWhole(records, onProgress)) ? [] : ('split' as const);
  };
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
    await batch.withHeartbeats(sleep(backoff(retries, random()), signal));
    if (batch.isRebalancing()) break;
  }
  return 'aborted';
}

/** In the order of their offsets. `unwritten` counts the records that could be decoded. */
function refusedOf(part: readonly DecodedRecord[], unwritten: readonly Refused[]): RefusedRecord[] {
  const reasons = new Map(unwritten.map(({ index, reason }) => [index, reason]));
  const refused: RefusedRecord[] = [];
  let index = 0;
  for (const { record, outcome } of part) {
    if (outcome.kind !== 'ok') refused.push({ record, reason: outcome, stage: 'decode' });
    else {
      if (reasons.has(index)) refused.push({ record, reason: refusedBy(reasons.get(index)), stage: 'write' });
      index++;
    }
  }
  return refused;
}

const BACKOFF_MS = { first: 250, most: 5000 };

/** Milliseconds, each time about twice as long, and never the same for all workers. */
const backoff = (retries: number, random: number) =>
  Math.min(BACKOFF_MS.first * 2 ** retries, BACKOFF_MS.most) * (0.5 + random / 2);

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

interface DecodedRecord {
  /** As it lies in the topic. */
  record: KafkaRecord;
  outcome: DecodeOutcome<object>;
}

const NO_VALUE = deadLetter('no_value', '', 'The record has no value.');
const TOO_LONG = deadLetter('line_too_long', '', `A record may have ${MAX_LINE_BYTES} bytes at most.`);

function cannotBeRead({ reason, first, last }: Unreadable): DeadLetter {
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

function createBatchDecoder(
  stream: Stream,
  newTurn: BatchProcessorDeps['newTurn'],
): (batch: Batch) => Promise<DecodedRecord[]> {
  const decode = decoder(stream, { others: 'allow' });
  const outcomeOf = (record: KafkaRecord): DecodeOutcome<object> => {
    const { value, unreadable } = record;
    if (unreadable) return cannotBeRead(unreadable);
    if (value === null) return NO_VALUE;
    if (value.length > MAX_LINE_BYTES) return TOO_LONG;
    return decode({ line: 0, bytes: value }, acceptedAtOf(record), sequenceOf(record));
  };
  return async ({ records }) => {
    const decoded: DecodedRecord[] = [];
    const turn = newTurn();
    for (const record of records) {
      decoded.push({ record, outcome: outcomeOf(record) });
      if (turn.isOver()) await turn.end();
    }
    return decoded;
  };
}
