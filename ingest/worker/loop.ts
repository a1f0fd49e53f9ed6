import { setTimeout as pause } from 'node:timers/promises';
import type { OneAtATime } from '../../services/shared/one-at-a-time.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { Turn } from '../../services/shared/turn.js';
import { decoder } from '../decode.js';
import { type DeadLetter, deadLetter, notStorable } from '../outcome.js';
import type { KafkaRecord, Slice } from '../sources/kafka.js';
import { MAX_LINE_BYTES } from '../sources/lines.js';
import type { Unreadable } from '../sources/record-batches.js';
import type { IngestStores, Stream } from '../streams/stream.js';
import { isOutage, type Refused, writeRecords } from '../write-records.js';
import { acceptedAtOf, type RefusedRecord, type SendDeadLetters, sequenceOf } from './dead-letters.js';
import type { StreamMetrics } from './metrics.js';

export interface LoopServices {
  stores: IngestStores;
  sendDeadLetters: SendDeadLetters;
  metrics: StreamMetrics;
  /** Decodes slices of all partitions one after another, so that the first is written while the second is decoded. */
  decoding: OneAtATime;
  /** Told of every try to write while the store is out. */
  onOutage(error: unknown, tries: number): void;
  /** Gives a slice up that waits for its store, or is being written. */
  abandon: AbortSignal;
}

/**
 * What becomes of a slice. Its place is kept only once every record of it is safe: in the store, or among the dead letters.
 * Whatever happens before, the slice comes again, here or elsewhere, and applying it again changes nothing.
 */
export function createLoop(stream: Stream, services: LoopServices): (slice: Slice) => Promise<void> {
  const decode = createSliceDecoder(stream);
  const { sendDeadLetters, metrics, decoding } = services;
  return async (slice) => {
    const begun = performance.now();
    const { records, origins, refused } = await slice.whileAlive(decoding(() => decode(slice)));
    await sendDeadLetters(slice, refused);
    const unstorable = await untilWritten(stream, services, slice, records);
    if (unstorable === 'given up') return;
    const unwritten = unstorable.map(({ index }) => notWritten(origins[index] as KafkaRecord));
    await sendDeadLetters(slice, unwritten);
    if (!slice.isOurs()) return;
    await slice.commit();
    metrics.applied(slice, records.length - unwritten.length, [...refused, ...unwritten], begun);
  };
}

const notWritten = (record: KafkaRecord): RefusedRecord => ({ record, reason: notStorable, stage: 'write' });

/** The records the store refused, each by itself. A store that is out is waited for, as long as the partition is ours. */
async function untilWritten(
  stream: Stream,
  { stores, metrics, onOutage, abandon }: LoopServices,
  slice: Slice,
  records: readonly OrderedRecord<object>[],
): Promise<Refused[] | 'given up'> {
  for (let tries = 0; slice.isOurs() && !abandon.aborted; tries++) {
    try {
      const written = writeRecords(stream, stores, records);
      return await slice.whileAlive(orAbandoned(written, abandon));
    } catch (error) {
      if (abandon.aborted) break;
      if (!isOutage(error)) throw error;
      metrics.retried();
      onOutage(error, tries);
    }
    await slice.whileAlive(pause(backoff(tries), undefined, { signal: abandon }).catch(() => undefined));
  }
  return 'given up';
}

const BACKOFF_MS = { first: 250, most: 5000 };

/** Milliseconds, each time about twice as long, and never the same for all workers. */
const backoff = (tries: number) =>
  Math.min(BACKOFF_MS.first * 2 ** tries, BACKOFF_MS.most) * (0.5 + Math.random() / 2);

function orAbandoned<T>(work: Promise<T>, abandon: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandoned = () => reject(abandon.reason);
    abandon.addEventListener('abort', abandoned, { once: true });
    work.then(resolve, reject).finally(() => abandon.removeEventListener('abort', abandoned));
  });
}

interface Decoded {
  records: OrderedRecord<object>[];
  /** The records of the topic they were made from, in the same order. */
  origins: KafkaRecord[];
  refused: RefusedRecord[];
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

function createSliceDecoder(stream: Stream): (slice: Slice) => Promise<Decoded> {
  const decode = decoder(stream, { others: 'allow' });
  return async (slice) => {
    const decoded: Decoded = { records: [], origins: [], refused: [] };
    const refuse = (record: KafkaRecord, reason: DeadLetter) =>
      decoded.refused.push({ record, reason, stage: 'decode' });
    const turn = new Turn();
    for (const record of slice.records) {
      const { value, unreadable } = record;
      if (unreadable) refuse(record, cannotBeRead(unreadable));
      else if (value === null) refuse(record, NO_VALUE);
      else if (value.length > MAX_LINE_BYTES) refuse(record, TOO_LONG);
      else {
        const outcome = decode({ line: 0, bytes: value }, acceptedAtOf(record), sequenceOf(record));
        if (outcome.kind !== 'ok') refuse(record, outcome);
        else {
          decoded.records.push(outcome);
          decoded.origins.push(record);
        }
      }
      if (turn.isOver()) await turn.end();
    }
    return decoded;
  };
}
