/** Rejected records, stored byte for byte, with the reason in headers. */
import { type Clock, systemClock } from '../../services/shared/time.js';
import type { DeadLetter } from '../records/outcome.js';
import type { Batch } from '../sources/kafka/consumer.js';
import type { OutgoingRecord, RecordSender } from '../sources/kafka/producer.js';
import { isTooLarge } from '../sources/kafka/producer.js';
import { type Headers, type KafkaRecord, recordBytes } from '../sources/kafka/record.js';
import { deadLetterTopicOf } from '../sources/kafka/topics.js';

/** Bytes that a dead letter keeps of a key, value or header that is too long. */
const TRUNCATED_BYTES = 1024;

/** The part that rejected the record: the decoder, the store, or an operator. */
type Stage = 'decode' | 'write' | 'skip';

export interface Rejection {
  record: KafkaRecord;
  reason: DeadLetter;
  stage: Stage;
}

/** Headers of a dead letter. The names are contract. All other headers come from the record. */
export const HEADER = {
  code: 'reachline-code',
  pointer: 'reachline-pointer',
  detail: 'reachline-detail',
  stage: 'reachline-stage',
  topic: 'reachline-topic',
  partition: 'reachline-partition',
  offset: 'reachline-offset',
  /** Number of times that the record was rejected. */
  attempts: 'reachline-attempts',
  /** Bytes of the record's value; present if the record was too large and only its beginning is stored. */
  truncated: 'reachline-truncated',
  /**
   * Time and sequence of the first acceptance, which order the record even when the record is replayed. The time is in milliseconds since
   * the epoch.
   */
  acceptedAt: 'reachline-accepted-at',
  sequence: 'reachline-sequence',
} as const;
const OWN_HEADERS: ReadonlySet<string> = new Set(Object.values(HEADER));
/** Headers that a replayed record keeps: the order of the record, and the number of its rejections. */
const REPLAYED_HEADERS: ReadonlySet<string> = new Set([HEADER.attempts, HEADER.acceptedAt, HEADER.sequence]);

/** Maximum bytes of a request, unless one record is larger. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Bytes above which a dead letter is truncated. They are below the limit of the topics, so that a complete dead letter can be replayed. */
const MAX_LETTER_BYTES = 7 * 1024 * 1024;
/** A truncated dead letter keeps the headers of its record up to this size. */
const MAX_FOREIGN_HEADER_BYTES = 64 * 1024;

/** Sends rejected records of a batch to the dead-letter topic of the batch's topic; resolves when every in-sync replica has the records. */
export type SendDeadLetters = (batch: Pick<Batch, 'topic'>, rejected: readonly Rejection[]) => Promise<void>;

export function deadLetterSender(producer: RecordSender): SendDeadLetters {
  return async ({ topic }, rejected) => {
    const letters = deadLetterTopicOf(topic);
    let batch: Rejection[] = [];
    let bytes = 0;
    const flush = async () => {
      if (batch.length > 0) await sendLetters(producer, letters, topic, batch);
      batch = [];
      bytes = 0;
    };
    for (const each of rejected) {
      const size = recordBytes(letterOf(topic, each));
      if (bytes + size > MAX_REQUEST_BYTES) await flush();
      batch.push(each);
      bytes += size;
    }
    await flush();
  };
}

/**
 * Sends the letters. The limit of the topic may have been lowered, so a dead letter that is too large by itself is truncated, whatever its
 * size.
 */
async function sendLetters(
  producer: RecordSender,
  letters: string,
  topic: string,
  rejected: readonly Rejection[],
): Promise<void> {
  try {
    const records = rejected.map((each) => {
      const letter = letterOf(topic, each);
      return recordBytes(letter) > MAX_LETTER_BYTES ? truncate(letter) : letter;
    });
    await producer.send(letters, records);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const [only] = rejected;
    if (rejected.length === 1 && only) await producer.send(letters, [truncate(letterOf(topic, only))]);
    else for (const each of rejected) await sendLetters(producer, letters, topic, [each]);
  }
}

function letterOf(topic: string, { record, reason, stage }: Rejection): OutgoingRecord {
  const { key, value, unreadable } = record;
  const headers = { ...record.headers, ...headersOf(topic, record, reason, stage) };
  if (unreadable) {
    headers[HEADER.offset] = unreadable.first;
    headers[HEADER.truncated] = String(unreadable.valueBytes);
  }
  return { key, value, headers };
}

/** Keeps the headers, the offset and the beginning of a record that is too large. Stores the size of the record in a header. */
function truncate({ key, value, headers = {} }: OutgoingRecord): OutgoingRecord {
  const own: Headers = {};
  const foreign: Headers = {};
  for (const [name, text] of Object.entries(headers)) {
    if (OWN_HEADERS.has(name)) own[name] = beginningOf(text as string);
    else foreign[name] = text;
  }
  return {
    key: beginningOf(key),
    value: beginningOf(value),
    headers: {
      ...(recordBytes({ key: null, value: null, headers: foreign }) > MAX_FOREIGN_HEADER_BYTES
        ? {}
        : foreign),
      ...own,
      [HEADER.truncated]: headerText(headers, HEADER.truncated) || String(Buffer.byteLength(value ?? '')),
    },
  };
}

function beginningOf<T extends Buffer | string | null>(content: T): T {
  if (content === null) return content;
  // Only Reachline's own headers are strings. A character at the cut may be lost.
  if (typeof content === 'string') return content.slice(0, TRUNCATED_BYTES).toWellFormed() as T;
  return content.subarray(0, TRUNCATED_BYTES) as T;
}

function headersOf(topic: string, record: KafkaRecord, reason: DeadLetter, stage: Stage): Headers {
  return {
    [HEADER.code]: reason.code,
    [HEADER.pointer]: reason.pointer,
    [HEADER.detail]: reason.detail,
    [HEADER.stage]: stage,
    [HEADER.topic]: topic,
    [HEADER.partition]: String(record.partition),
    [HEADER.offset]: record.offset,
    [HEADER.attempts]: String(attemptsOf(record.headers) + 1),
    [HEADER.acceptedAt]: String(acceptedAtOf(record)),
    [HEADER.sequence]: String(sequenceOf(record)),
  };
}

const attemptsOf = (headers: Headers): number => headerNumber(headers, HEADER.attempts) ?? 0;

const OLDEST_ACCEPTANCE_MS = Date.UTC(2000, 0, 1);

/**
 * Time at which a record was first appended to its topic, in milliseconds since the epoch. If the topic keeps the time of the producer,
 * this process's time is the upper bound: a wrong clock of a producer must not make later records stale.
 */
export const acceptedAtOf = ({ headers, timestamp }: KafkaRecord, clock: Clock = systemClock): number =>
  Math.max(
    Math.min(headerNumber(headers, HEADER.acceptedAt) ?? timestamp, clock.now()),
    OLDEST_ACCEPTANCE_MS,
  );

/**
 * Factor that leaves three digits of a sequence for the partition; the other digits hold the offset. Records without a key may be in any
 * partition.
 */
const PARTITIONS = 1000;
const OFFSETS = 1e7;

/** Sequence from the offset and partition to which the record was first appended. */
export const sequenceOf = ({ headers, offset, partition }: KafkaRecord): number =>
  headerNumber(headers, HEADER.sequence) ??
  (Number(offset) % OFFSETS) * PARTITIONS + (partition % PARTITIONS);

/** The number in a header; undefined if the header is absent or not a number. */
function headerNumber(headers: Headers, name: string): number | undefined {
  if (headers[name] === undefined) return undefined;
  const text = headerText(headers, name);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The text of a header; '' if the header is absent. */
export function headerText(headers: Headers, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.toString() ?? '';
}

/** The original record, for replay. The record keeps its order and the number of its rejections. */
export function stripDeadLetterHeaders({ key, value, headers }: KafkaRecord): OutgoingRecord {
  const kept = Object.entries(headers).filter(
    ([name]) => REPLAYED_HEADERS.has(name) || !OWN_HEADERS.has(name),
  );
  return { key, value, headers: Object.fromEntries(kept) };
}
