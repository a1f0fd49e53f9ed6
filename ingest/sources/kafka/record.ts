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
