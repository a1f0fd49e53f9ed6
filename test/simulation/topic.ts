import type { OutgoingRecord } from '../../ingest/sources/kafka/producer.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';

/** Partitions of records in the order they were appended. */
export class Topic {
  readonly partitions: KafkaRecord[][];

  constructor(partitions: number) {
    this.partitions = Array.from({ length: partitions }, () => []);
  }

  append(partition: number, { key, value, headers = {} }: OutgoingRecord, timestamp: number): KafkaRecord {
    const records = this.partitions[partition] as KafkaRecord[];
    const record: KafkaRecord = {
      partition,
      offset: String(records.length),
      key: toBuffer(key),
      value: toBuffer(value),
      headers,
      timestamp,
    };
    records.push(record);
    return record;
  }

  get records(): KafkaRecord[] {
    return this.partitions.flat();
  }
}

const toBuffer = (value: Buffer | string | null) => (typeof value === 'string' ? Buffer.from(value) : value);
