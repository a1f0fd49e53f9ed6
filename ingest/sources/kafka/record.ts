/** A record of a topic. */
import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { Unreadable } from './record-batches.js';

export type Headers = IHeaders;

export interface KafkaRecord {
  partition: number;
  offset: string;
  key: Buffer | null;
  value: Buffer | null;
  headers: Headers;
  /** Milliseconds since the epoch: when the broker appended it, or the producer sent it. */
  timestamp: number;
  /** Present when this stands for unreadable records. Key and value are the beginning of the first one's. */
  unreadable?: Unreadable;
}

export function toRecord(
  partition: number,
  { offset, key, value, headers, timestamp, unreadable }: KafkaMessage & { unreadable?: Unreadable },
): KafkaRecord {
  const record = { partition, offset, key, value, headers: headers ?? {}, timestamp: Number(timestamp) };
  return unreadable ? { ...record, unreadable } : record;
}

/** Bytes of key, value and headers. */
export function recordBytes({ key, value, headers = {} }: Pick<KafkaMessage, 'headers'> & Content): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, values] of Object.entries(headers)) {
    for (const each of [values].flat()) bytes += Buffer.byteLength(name) + Buffer.byteLength(each ?? '');
  }
  return bytes;
}

interface Content {
  key: Buffer | string | null;
  value: Buffer | string | null;
}
