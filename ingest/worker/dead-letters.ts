/** Records that were refused, kept to the byte, with what is wrong with them in headers. */
import type { DeadLetter } from '../records/outcome.js';
import type { Batch } from '../sources/kafka/consumer.js';
import type { KafkaProducer, OutgoingRecord } from '../sources/kafka/producer.js';
import { isTooLarge } from '../sources/kafka/producer.js';
import type { Headers, KafkaRecord } from '../sources/kafka/record.js';
import { deadLetterTopicOf } from '../sources/kafka/topics.js';

/** What found the fault: reading the record, the store that was to hold it, or an operator. */
type Stage = 'decode' | 'write' | 'skip';

export interface RefusedRecord {
  record: KafkaRecord;
  reason: DeadLetter;
  stage: Stage;
}

/** Of a record in a dead-letter topic. The names are contract; other headers are those the record came with. */
export const HEADER = {
  code: 'reachline-code',
  pointer: 'reachline-pointer',
  detail: 'reachline-detail',
  stage: 'reachline-stage',
  topic: 'reachline-topic',
  partition: 'reachline-partition',
  offset: 'reachline-offset',
  /** Times the record was refused. */
  attempts: 'reachline-attempts',
  /** There when the record was too large to be kept: the bytes its value had. What is kept of it is its beginning. */
  truncated: 'reachline-truncated',
  /** When it was first accepted, in milliseconds since the epoch, and its offset then: what orders it, also when it is replayed. */
  acceptedAt: 'reachline-accepted-at',
  sequence: 'reachline-sequence',
} as const;
const OURS: ReadonlySet<string> = new Set(Object.values(HEADER));
/** Of these, what a record keeps when it is tried again. */
const REVIVED: ReadonlySet<string> = new Set([HEADER.attempts, HEADER.acceptedAt, HEADER.sequence]);

/** Bytes sent at once, unless one record has more. */
const SEND_BYTES = 1024 * 1024;
/** A larger record is cut: below what the topics take, so that what is kept whole can be sent back to the topic it came from. */
const MAX_LETTER_BYTES = 7 * 1024 * 1024;
/** What is left of the key, the value and each text of a record that is cut. */
const KEPT_BYTES = 1024;
/** Headers a record brought are kept with it if they have no more. */
const MAX_KEPT_HEADERS_BYTES = 64 * 1024;

/** Sends refused records of a batch to the dead letters of its topic; resolves when they are safe there. */
export type SendDeadLetters = (
  batch: Pick<Batch, 'topic'>,
  refused: readonly RefusedRecord[],
) => Promise<void>;

export function deadLetterSender(producer: Pick<KafkaProducer, 'send'>): SendDeadLetters {
  return async ({ topic }, refused) => {
    const letters = deadLetterTopicOf(topic);
    let batch: RefusedRecord[] = [];
    let bytes = 0;
    const flush = async () => {
      if (batch.length > 0) await sendLetters(producer, letters, topic, batch);
      batch = [];
      bytes = 0;
    };
    for (const each of refused) {
      const size = bytesOf(letterOf(topic, each));
      if (bytes + size > SEND_BYTES) await flush();
      batch.push(each);
      bytes += size;
    }
    await flush();
  };
}

/** The topic may take less than it was created for, so a record that is too large alone is cut, whatever its size. */
async function sendLetters(
  producer: Pick<KafkaProducer, 'send'>,
  letters: string,
  topic: string,
  refused: readonly RefusedRecord[],
): Promise<void> {
  try {
    const records = refused.map((each) => {
      const letter = letterOf(topic, each);
      return bytesOf(letter) > MAX_LETTER_BYTES ? cut(letter) : letter;
    });
    await producer.send(letters, records);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const [only] = refused;
    if (refused.length === 1 && only) await producer.send(letters, [cut(letterOf(topic, only))]);
    else for (const each of refused) await sendLetters(producer, letters, topic, [each]);
  }
}

function letterOf(topic: string, { record, reason, stage }: RefusedRecord): OutgoingRecord {
  const { key, value, unreadable } = record;
  const headers = { ...record.headers, ...headersOf(topic, record, reason, stage) };
  if (unreadable) {
    headers[HEADER.offset] = unreadable.first;
    headers[HEADER.truncated] = String(unreadable.valueBytes);
  }
  return { key, value, headers };
}

/** Headers, offset and the beginning of a record that is too large; how many bytes it had is said in a header. */
function cut({ key, value, headers = {} }: OutgoingRecord): OutgoingRecord {
  const ours: Headers = {};
  const theirs: Headers = {};
  for (const [name, text] of Object.entries(headers)) {
    if (OURS.has(name)) ours[name] = beginningOf(text as string);
    else theirs[name] = text;
  }
  return {
    key: beginningOf(key),
    value: beginningOf(value),
    headers: {
      ...(bytesOf({ key: null, value: null, headers: theirs }) > MAX_KEPT_HEADERS_BYTES ? {} : theirs),
      ...ours,
      [HEADER.truncated]: headerText(headers, HEADER.truncated) || String(Buffer.byteLength(value ?? '')),
    },
  };
}

function beginningOf<T extends Buffer | string | null>(content: T): T {
  if (content === null) return content;
  // A string is one of ours; a character at the cut may be left out.
  if (typeof content === 'string') return content.slice(0, KEPT_BYTES).toWellFormed() as T;
  return content.subarray(0, KEPT_BYTES) as T;
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

function bytesOf({ key, value, headers = {} }: OutgoingRecord): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, values] of Object.entries(headers)) {
    for (const text of [values].flat()) bytes += Buffer.byteLength(name) + Buffer.byteLength(text ?? '');
  }
  return bytes;
}

const attemptsOf = (headers: Headers): number => headerNumber(headers, HEADER.attempts) ?? 0;

/** When a record was accepted: when its topic had it first. */
export const acceptedAtOf = ({ headers, timestamp }: KafkaRecord): number =>
  headerNumber(headers, HEADER.acceptedAt) ?? Math.max(0, timestamp);

/** Its offset when its topic had it first. */
export const sequenceOf = ({ headers, offset }: KafkaRecord): number =>
  headerNumber(headers, HEADER.sequence) ?? Number(offset);

/** Undefined where there is none. */
function headerNumber(headers: Headers, name: string): number | undefined {
  if (headers[name] === undefined) return undefined;
  const text = headerText(headers, name);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** '' where there is none. */
export function headerText(headers: Headers, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.toString() ?? '';
}

/** The record as it first came, so that it can be tried again; it remembers how often it was refused, and keeps its order. */
export function revived({ key, value, headers }: KafkaRecord): OutgoingRecord {
  const kept = Object.entries(headers).filter(([name]) => REVIVED.has(name) || !OURS.has(name));
  return { key, value, headers: Object.fromEntries(kept) };
}
