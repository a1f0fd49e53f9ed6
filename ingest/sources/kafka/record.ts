/** A record of a topic. */
import type { IHeaders, KafkaMessage } from 'kafkajs';

export type Headers = IHeaders;

export interface KafkaRecord {
  partition: number;
  offset: string;
  key: Buffer | null;
  value: Buffer | null;
  headers: Headers;
  /** Milliseconds since the epoch: when the broker appended the record, or when the producer sent it. */
  timestamp: number;
  /** Present if this record represents unreadable records. Key and value are the beginning of the first unreadable record. */
  unreadable?: Unreadable | undefined;
}

/** Unreadable records at the end of a record batch. A single record, which has the offset of the last of them, represents all of them. */
export interface Unreadable {
  reason: 'too large' | 'corrupt';
  /** Offsets of the first and the last record. */
  first: string;
  last: string;
  /** Declared bytes of the first value; 0 if the size is unreadable too. */
  valueBytes: number;
}

export const toRecord = (
  partition: number,
  message: KafkaMessage & { unreadable?: Unreadable },
): KafkaRecord => ({
  partition,
  offset: message.offset,
  key: message.key,
  value: message.value,
  headers: message.headers ?? {},
  timestamp: Number(message.timestamp),
  unreadable: message.unreadable,
});

type Content = Pick<KafkaMessage, 'headers'> & Record<'key' | 'value', Buffer | string | null>;

/** Bytes of key, value and headers of a record. */
export function recordBytes({ key, value, headers = {} }: Content): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, values] of Object.entries(headers)) {
    for (const each of [values].flat()) bytes += Buffer.byteLength(name) + Buffer.byteLength(each ?? '');
  }
  return bytes;
}

/** Groups consecutive messages up to both limits. A single message may be larger. */
export function* chunksOf(
  messages: readonly KafkaMessage[],
  { maxRecords, maxBytes }: { maxRecords: number; maxBytes: number },
): Generator<KafkaMessage[]> {
  let chunk: KafkaMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = recordBytes(message);
    if (chunk.length > 0 && (chunk.length === maxRecords || bytes + size > maxBytes)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(message);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
