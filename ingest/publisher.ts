/** Sends records to the topics of their streams, for workers to write. */
import type { Logger } from 'pino';
import type { KafkaConfig } from '../services/shared/config.js';
import type { OrderedRecord } from '../services/shared/record-order.js';
import { OverloadedError, StoreUnavailableError } from '../services/shared/store-errors.js';
import { INTERACTIVE_RETRY } from './sources/kafka/client.js';
import { KafkaCluster } from './sources/kafka/cluster.js';
import type { OutgoingRecord, RecordSender } from './sources/kafka/producer.js';
import { createTopics, groupOf, topicOf } from './sources/kafka/topics.js';
import { STREAM_NAMES } from './streams/index.js';
import type { Stream } from './streams/stream.js';

/** Size of a request, unless one write is larger. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
/** Bytes that wait for the brokers, of all topics: four of the largest HTTP requests. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

interface PendingWrite {
  messages: OutgoingRecord[];
  bytes: number;
  signal: AbortSignal | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

interface PublisherOptions {
  maxQueuedBytes?: number;
}

export class Publisher {
  readonly #config: KafkaConfig;
  readonly #cluster: KafkaCluster;
  /** Creates topics, which takes longer than the retries of `#cluster`. */
  readonly #topics: KafkaCluster;
  readonly #maxQueuedBytes: number;
  readonly #waiting = new Map<string, PendingWrite[]>();
  #queuedBytes = 0;
  #producer: Promise<RecordSender> | undefined;

  constructor(
    config: KafkaConfig,
    logger: Logger,
    { maxQueuedBytes = MAX_QUEUED_BYTES }: PublisherOptions = {},
  ) {
    this.#config = config;
    this.#cluster = new KafkaCluster(config, logger, INTERACTIVE_RETRY);
    this.#topics = new KafkaCluster(config, logger);
    this.#maxQueuedBytes = maxQueuedBytes;
  }

  /**
   * The same stream, written to its topic: a write resolves when every in-sync replica has the records, and a worker stores them later.
   * Records that still wait when `signal` is aborted are not sent. A write rejects with `OverloadedError` when too many bytes wait.
   */
  toKafka<T extends Stream>(stream: T, signal?: AbortSignal): T {
    const topic = topicOf(this.#config, stream.name);
    return {
      ...stream,
      // A topic has nothing to refresh, and the search store may be unavailable.
      refresh: undefined,
      write: (_, records: readonly OrderedRecord<object>[]) =>
        this.#publish(
          topic,
          records.map(({ record }) => ({ key: stream.key(record), value: JSON.stringify(record) })),
          signal,
        ),
    };
  }

  /** Bytes of records that wait for a request or its response. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Rejects when no broker answers. */
  ping(): Promise<void> {
    return this.#cluster.ping();
  }

  /** Records that the workers have not committed yet, by stream. Rejects when no broker answers. */
  async lag(): Promise<Record<string, number>> {
    const topics = new Set(await this.#cluster.listTopics());
    const lags = STREAM_NAMES.map(async (stream): Promise<[string, number]> => {
      const topic = topicOf(this.#config, stream);
      if (!topics.has(topic)) return [stream, 0];
      const lag = await this.#cluster.lag(groupOf(this.#config, stream), topic);
      return [stream, [...lag.values()].reduce((sum, records) => sum + Number(records), 0)];
    });
    return Object.fromEntries(await Promise.all(lags));
  }

  async close(): Promise<void> {
    await Promise.all([this.#cluster.close(), this.#topics.close()]);
  }

  /** One request per topic at a time, so that records keep their order; those that wait meanwhile are sent with the next. */
  #publish(
    topic: string,
    messages: { key: string; value: string }[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = messages.reduce((sum, { key, value }) => sum + key.length + Buffer.byteLength(value), 0);
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > this.#maxQueuedBytes) {
        reject(new OverloadedError('intake'));
        return;
      }
      this.#queuedBytes += bytes;
      const one = { messages, bytes, signal, resolve, reject };
      const waiting = this.#waiting.get(topic);
      if (waiting) {
        waiting.push(one);
        signal?.addEventListener('abort', () => this.#drop(topic, one), { once: true });
        return;
      }
      this.#waiting.set(topic, [one]);
      void this.#sendWaiting(topic);
    });
  }

  #drop(topic: string, one: PendingWrite): void {
    const waiting = this.#waiting.get(topic) ?? [];
    const index = waiting.indexOf(one);
    // It is in a request already.
    if (index === -1) return;
    waiting.splice(index, 1);
    this.#queuedBytes -= one.bytes;
    one.reject(one.signal?.reason);
  }

  async #sendWaiting(topic: string): Promise<void> {
    for (let waiting = this.#waiting.get(topic); waiting?.length; ) {
      let count = 0;
      let bytes = 0;
      while (
        count < waiting.length &&
        (count === 0 || bytes + (waiting[count]?.bytes ?? 0) <= MAX_REQUEST_BYTES)
      ) {
        bytes += waiting[count++]?.bytes ?? 0;
      }
      const sent = waiting.splice(0, count);
      try {
        const producer = await this.#connect();
        await producer.send(
          topic,
          sent.flatMap(({ messages }) => messages),
        );
        for (const { resolve } of sent) resolve();
      } catch (cause) {
        const error = new StoreUnavailableError('intake', { cause });
        for (const { reject } of sent) reject(error);
      } finally {
        this.#queuedBytes -= bytes;
      }
    }
    this.#waiting.delete(topic);
  }

  /** Connects with the first write, so that a gateway starts while the brokers are unavailable. */
  #connect(): Promise<RecordSender> {
    this.#producer ??= this.#prepare();
    this.#producer.catch(() => {
      this.#producer = undefined;
    });
    return this.#producer;
  }

  async #prepare(): Promise<RecordSender> {
    // Fails soon when the brokers are unavailable, and still allows a new cluster the time that creating its topics takes.
    await this.#cluster.ping();
    await createTopics(this.#topics, this.#config);
    return this.#cluster.producer();
  }
}
