/** Sends records to the topics of their streams, for workers to write. */
import type { Logger } from 'pino';
import { withTimeout } from '../services/shared/async.js';
import type { KafkaConfig } from '../services/shared/config.js';
import type { OrderedRecord } from '../services/shared/record-order.js';
import {
  OverloadedError,
  PartialWriteError,
  RecordRejectedError,
  StoreUnavailableError,
} from '../services/shared/store-errors.js';
import { type GroupedWrite, groupWrites } from './group-writes.js';
import { INTERACTIVE_RETRY } from './sources/kafka/client.js';
import { KafkaCluster } from './sources/kafka/cluster.js';
import { type OutgoingRecord, type RecordSender, sendDivided } from './sources/kafka/producer.js';
import { createTopics, groupOf, topicOf } from './sources/kafka/topics.js';
import { STREAM_NAMES } from './streams/index.js';
import type { Stream } from './streams/stream.js';

/** Maximum bytes of a request, unless one write is larger. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
/**
 * Timeout of one request to the brokers, so that clients get a response within five seconds. The brokers may still append the records
 * later.
 */
const SEND_TIMEOUT_MS = 4000;
/** Maximum bytes that wait for the brokers, for all topics: four times the largest HTTP request. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

interface PublisherOptions {
  maxQueuedBytes?: number;
}

const recordTooLarge = () =>
  new RecordRejectedError(
    'record_too_large',
    '',
    'The record is larger than its topic allows (max.message.bytes).',
  );

export class Publisher {
  readonly #config: KafkaConfig;
  readonly #connectCluster: () => KafkaCluster;
  #cluster: KafkaCluster;
  /** Creates topics. This takes longer than the retries of `#cluster` allow. */
  readonly #topics: KafkaCluster;
  readonly #maxQueuedBytes: number;
  /** Writes by stream: one request at a time, so that records keep their order. */
  readonly #writes = new Map<string, GroupedWrite<OutgoingRecord>>();
  #queuedBytes = 0;
  #producer: Promise<RecordSender> | undefined;
  #hasTopics = false;

  constructor(
    config: KafkaConfig,
    logger: Logger,
    { maxQueuedBytes = MAX_QUEUED_BYTES }: PublisherOptions = {},
  ) {
    this.#config = config;
    this.#connectCluster = () => new KafkaCluster(config, logger, INTERACTIVE_RETRY);
    this.#cluster = this.#connectCluster();
    this.#topics = new KafkaCluster(config, logger);
    this.#maxQueuedBytes = maxQueuedBytes;
    for (const name of STREAM_NAMES) {
      const send = (records: readonly OutgoingRecord[]) => this.#send(topicOf(config, name), records);
      const limits = { maxSize: MAX_REQUEST_BYTES, maxWrites: Number.POSITIVE_INFINITY };
      this.#writes.set(name, groupWrites(send, limits));
    }
  }

  /**
   * Returns the stream with writes that go to its topic. A write resolves when every in-sync replica has the records; a worker stores the
   * records later. Records that still wait when `signal` is aborted are not sent. A write rejects with `OverloadedError` if too many bytes
   * wait.
   */
  toKafka<T extends Stream>(stream: T, signal?: AbortSignal): T {
    return {
      ...stream,
      // A topic has nothing to refresh, and the records store may be unavailable.
      refresh: undefined,
      write: (_, records: readonly OrderedRecord<object>[]) =>
        this.#publish(
          stream.name,
          records.map(({ record }) => ({ key: stream.key(record), value: JSON.stringify(record) })),
          signal,
        ),
    };
  }

  /** Bytes of records that wait for a request or its response. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Rejects if no broker responds. */
  ping(): Promise<void> {
    return this.#cluster.ping();
  }

  /** Number of records that the workers have not committed yet, by stream. Rejects if no broker responds. */
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

  async #publish(
    stream: string,
    messages: { key: string; value: string }[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const size = messages.reduce((sum, { key, value }) => sum + key.length + Buffer.byteLength(value), 0);
    signal?.throwIfAborted();
    if (this.#queuedBytes > 0 && this.#queuedBytes + size > this.#maxQueuedBytes) {
      throw new OverloadedError('intake');
    }
    this.#queuedBytes += size;
    try {
      const write = this.#writes.get(stream) as GroupedWrite<OutgoingRecord>;
      await write(messages, { size, signal });
    } finally {
      this.#queuedBytes -= size;
    }
  }

  async #send(topic: string, records: readonly OutgoingRecord[]): Promise<void> {
    const cluster = this.#cluster;
    let tooLarge: number[];
    try {
      await this.#ensureTopics();
      tooLarge = await withTimeout(SEND_TIMEOUT_MS, async () =>
        sendDivided(await this.#connect(), topic, records),
      );
    } catch (cause) {
      if ((cause as Error).name === 'TimeoutError' && cluster === this.#cluster) this.#reconnect();
      throw new StoreUnavailableError('intake', { cause });
    }
    if (tooLarge.length === 0) return;
    throw new PartialWriteError(new Map(tooLarge.map((index) => [index, recordTooLarge()])));
  }

  /** Connects with the first write, so that a gateway starts while the brokers are unavailable. */
  #connect(): Promise<RecordSender> {
    if (!this.#producer) {
      const producer = this.#cluster.producer();
      this.#producer = producer;
      producer.catch(() => {
        if (this.#producer === producer) this.#producer = undefined;
      });
    }
    return this.#producer;
  }

  /** Creates missing topics. Fails soon if the brokers are unavailable, but gives a new cluster the time that creating its topics takes. */
  async #ensureTopics(): Promise<void> {
    if (this.#hasTopics) return;
    await withTimeout(SEND_TIMEOUT_MS, () => this.#cluster.ping());
    await createTopics(this.#topics, this.#config);
    this.#hasTopics = true;
  }

  /**
   * Renews the connection. kafkajs learns from a broker's response that another broker leads now, but a broker that hangs sends no
   * response.
   */
  #reconnect(): void {
    this.#cluster.close().catch(() => undefined);
    this.#cluster = this.#connectCluster();
    this.#producer = undefined;
  }
}
