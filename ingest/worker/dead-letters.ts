/** Records that were refused, kept to the byte, with what is wrong with them in headers. */
import type { DeadLetter } from '../outcome.js';
import type { Headers, KafkaProducer, KafkaRecord, OutgoingRecord, Slice } from '../sources/kafka.js';
import { deadLetterTopicOf } from './topics.js';

/** What found the fault: reading the record, or the store that was to hold it. */
type Stage = 'decode' | 'write';

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
} as const;

/** Bytes sent at once, unless one record has more. */
const SEND_BYTES = 1024 * 1024;

/** Sends refused records of a slice to the dead letters of its topic; resolves when they are safe there. */
export type SendDeadLetters = (slice: Slice, refused: readonly RefusedRecord[]) => Promise<void>;

export function deadLetterSender(producer: KafkaProducer): SendDeadLetters {
  return async ({ topic }, refused) => {
    let batch: OutgoingRecord[] = [];
    let bytes = 0;
    const flush = async () => {
      if (batch.length > 0) await producer.send(deadLetterTopicOf(topic), batch);
      batch = [];
      bytes = 0;
    };
    for (const { record, reason, stage } of refused) {
      const { key, value } = record;
      const headers = { ...record.headers, ...headersOf(topic, record, reason, stage) };
      const size = (key?.length ?? 0) + (value?.length ?? 0) + bytesOf(headers);
      if (bytes + size > SEND_BYTES) await flush();
      batch.push({ key, value, headers });
      bytes += size;
    }
    await flush();
  };
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
  };
}

function bytesOf(headers: Headers): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const text of [name, value].flat()) if (text !== undefined) bytes += Buffer.byteLength(text);
  }
  return bytes;
}

function attemptsOf(headers: Headers): number {
  const attempts = Number(headerText(headers, HEADER.attempts));
  return Number.isSafeInteger(attempts) && attempts > 0 ? attempts : 0;
}

/** '' where there is none. */
export function headerText(headers: Headers, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.toString() ?? '';
}

/** The record as it first came, so that it can be tried again; it remembers how often it was refused. */
export function revived({ key, value, headers }: KafkaRecord): OutgoingRecord {
  const ours: ReadonlySet<string> = new Set(Object.values(HEADER));
  const kept = Object.entries(headers).filter(([name]) => name === HEADER.attempts || !ours.has(name));
  return { key, value, headers: Object.fromEntries(kept) };
}
