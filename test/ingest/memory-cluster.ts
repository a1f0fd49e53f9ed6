import type { Topic } from '../../ingest/sources/kafka/admin.js';
import type { ConsumeOptions, RunningConsumer } from '../../ingest/sources/kafka/consumer.js';
import type { OutgoingRecord, RecordSender } from '../../ingest/sources/kafka/producer.js';
import type { OnRecords, ReadOptions } from '../../ingest/sources/kafka/reader.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';
import { deadLetterTopicOf, topicOf } from '../../ingest/sources/kafka/topics.js';
import type { StreamName } from '../../ingest/streams/index.js';
import { type KafkaConfig, loadConfig } from '../../services/shared/config.js';

const { kafka } = loadConfig({ KAFKA_BROKERS: 'memory:9092', REACHLINE_TOPIC_PARTITIONS: '1' });
export const KAFKA_CONFIG = kafka as KafkaConfig;

interface Member {
  options: ConsumeOptions;
  /** Ends the consumer finally with an error, as kafkajs does when it cannot recover. */
  crash(error: Error): void;
}

/** A cluster of one process: topics of one partition, the committed offsets of groups, and their one consumer each. */
export class MemoryCluster {
  readonly #topics = new Map<string, KafkaRecord[]>();
  readonly #committed = new Map<string, number>();
  readonly #members = new Map<string, Member>();
  #appended: () => void = () => undefined;
  #onAppend = this.#nextAppend();
  /** When records are appended, in milliseconds since the epoch. */
  now = Date.parse('2026-08-01T12:00:00Z');
  isClosed = false;
  /** Heartbeats that readers send while they wait. */
  heartbeats = 0;

  append(stream: StreamName, ...values: (object | string)[]): void {
    for (const value of values) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      this.#append(topicOf(KAFKA_CONFIG, stream), { key: `key of ${text}`, value: text });
    }
  }

  records(stream: StreamName): readonly KafkaRecord[] {
    return this.#records(topicOf(KAFKA_CONFIG, stream));
  }

  deadLetters(stream: StreamName): readonly KafkaRecord[] {
    return this.#records(deadLetterTopicOf(topicOf(KAFKA_CONFIG, stream)));
  }

  member(stream: StreamName): Member | undefined {
    return this.#members.get(`${KAFKA_CONFIG.group}-${stream}`);
  }

  /** Offset after the last record that the workers have committed. */
  committedBy(stream: StreamName): number {
    return this.#offsetOf(`${KAFKA_CONFIG.group}-${stream}`, topicOf(KAFKA_CONFIG, stream));
  }

  async createTopics(topics: readonly Topic[]): Promise<string[]> {
    const missing = topics.map(({ name }) => name).filter((name) => !this.#topics.has(name));
    for (const name of missing) this.#topics.set(name, []);
    return missing;
  }

  async listTopics(): Promise<string[]> {
    return [...this.#topics.keys()];
  }

  async producer(): Promise<RecordSender> {
    return { send: async (topic, records) => records.forEach((record) => void this.#append(topic, record)) };
  }

  async consume(options: ConsumeOptions): Promise<RunningConsumer> {
    const { topic, group } = options;
    let isStopping = false;
    let crash: Member['crash'] = () => undefined;
    const failed = new Promise<Error>((resolve) => {
      crash = resolve;
    });
    this.#members.set(group, { options, crash });
    const stopped = new Promise<void>((resolve) => {
      this.#stops.set(group, () => {
        isStopping = true;
        resolve();
      });
    });
    const running = (async () => {
      while (!isStopping) {
        const appended = this.#onAppend;
        const from = this.#offsetOf(group, topic);
        const records = this.#records(topic).slice(from, from + options.maxBatchRecords);
        if (records.length === 0) {
          await Promise.race([appended, stopped]);
          continue;
        }
        const batch = {
          topic,
          partition: 0,
          records,
          lag: this.#records(topic).length - from - records.length,
          isAssigned: () => true,
          isRebalancing: () => false,
          withHeartbeats: <T>(work: Promise<T>) => work,
          done: ({ offset }: KafkaRecord) => this.commit(group, topic, 0, BigInt(offset) + 1n),
        };
        // Deliver a failed batch again, as kafkajs does.
        await options.onBatch(batch).catch(() => new Promise(setImmediate));
      }
    })();
    return {
      failed,
      lag: () => this.lag(group, topic),
      heldBytes: () => 0,
      stop: async () => {
        this.#stops.get(group)?.();
        await running;
        this.#members.delete(group);
      },
    };
  }
  readonly #stops = new Map<string, () => void>();

  async readAll(
    topic: string,
    onRecords: OnRecords,
    { group, from, until, maxRecords = 500 }: ReadOptions = {},
  ): Promise<void> {
    const start = group === undefined ? Number(from?.get(0) ?? 0) : this.#offsetOf(group, topic);
    const records = this.#records(topic).slice(start, until ? Number(until.get(0)) : undefined);
    for (let index = 0; index < records.length; index += maxRecords) {
      const some = records.slice(index, index + maxRecords);
      const commit = () => this.commit(group as string, topic, 0, BigInt(start + index + some.length));
      if (!(await onRecords(some, { commit, heartbeat: async () => void this.heartbeats++ }))) return;
    }
  }

  async committed(group: string, topic: string): Promise<Map<number, string>> {
    const offset = this.#committed.get(`${group} ${topic}`);
    return new Map(offset === undefined ? [] : [[0, String(offset)]]);
  }

  async lag(group: string, topic: string): Promise<Map<number, bigint>> {
    return new Map([[0, BigInt(this.#records(topic).length - this.#offsetOf(group, topic))]]);
  }

  async offsets(topic: string): Promise<Map<number, { low: bigint; high: bigint }>> {
    return new Map([[0, { low: 0n, high: BigInt(this.#records(topic).length) }]]);
  }

  async hasMembers(group: string): Promise<boolean> {
    return this.#members.has(group);
  }

  async commit(group: string, topic: string, _partition: number, offset: bigint): Promise<void> {
    this.#committed.set(`${group} ${topic}`, Number(offset));
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.isClosed = true;
  }

  #offsetOf(group: string, topic: string): number {
    return this.#committed.get(`${group} ${topic}`) ?? 0;
  }

  #records(topic: string): KafkaRecord[] {
    return this.#topics.get(topic) ?? [];
  }

  #append(topic: string, { key, value, headers = {} }: OutgoingRecord): void {
    const records = this.#topics.get(topic);
    if (!records) throw new Error(`there is no topic ${topic}`);
    const offset = String(records.length);
    const [keyBytes, valueBytes] = [key, value].map((text) => (text === null ? null : Buffer.from(text)));
    records.push({
      partition: 0,
      offset,
      key: keyBytes ?? null,
      value: valueBytes ?? null,
      headers,
      timestamp: this.now,
    });
    this.#appended();
    this.#onAppend = this.#nextAppend();
  }

  #nextAppend(): Promise<void> {
    return new Promise((resolve) => {
      this.#appended = resolve;
    });
  }
}
