/** Records that are put into the topics of their streams, for workers to apply. */
import type { Logger } from 'pino';
import type { KafkaConfig } from '../services/shared/config.js';
import { StoreUnavailable } from '../services/stores/store-error.js';
import { KafkaCluster, type KafkaProducer, type OutgoingRecord, PROMPT } from './sources/kafka.js';
import type { Stream } from './streams/stream.js';
import { createTopics, topicOf } from './worker/topics.js';

/** Bytes of one request; what waits longer goes with the next. */
const SEND_BYTES = 4 * 1024 * 1024;

interface Waiting {
  messages: OutgoingRecord[];
  bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

export class Publisher {
  readonly #config: KafkaConfig;
  readonly #cluster: KafkaCluster;
  readonly #waiting = new Map<string, Waiting[]>();
  #producer: Promise<KafkaProducer> | undefined;

  constructor(config: KafkaConfig, logger: Logger) {
    this.#config = config;
    this.#cluster = new KafkaCluster(config, logger, PROMPT);
  }

  /** The stream whose records are written to its topic: safe when the brokers have them, applied when a worker has. */
  published<T extends Stream>(stream: T): T {
    const topic = topicOf(this.#config, stream.name);
    return {
      ...stream,
      write: (_, records: readonly object[]) =>
        this.#publish(
          topic,
          records.map((record) => ({ key: stream.key(record), value: JSON.stringify(record) })),
        ),
    };
  }

  /** Fails when no broker answers. */
  ping(): Promise<void> {
    return this.#cluster.ping();
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }

  /** One request a topic at a time, so that records stay in their order; all that waits meanwhile goes with the next. */
  #publish(topic: string, messages: { key: string; value: string }[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = messages.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
      const waiting = this.#waiting.get(topic);
      if (waiting) {
        waiting.push({ messages, bytes, resolve, reject });
        return;
      }
      this.#waiting.set(topic, [{ messages, bytes, resolve, reject }]);
      void this.#sendWaiting(topic);
    });
  }

  async #sendWaiting(topic: string): Promise<void> {
    for (let waiting = this.#waiting.get(topic); waiting?.length; ) {
      let count = 0;
      let bytes = 0;
      while (count < waiting.length && (count === 0 || bytes + (waiting[count]?.bytes ?? 0) <= SEND_BYTES)) {
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
        const error = new StoreUnavailable('intake', { cause });
        for (const { reject } of sent) reject(error);
      }
    }
    this.#waiting.delete(topic);
  }

  /** Not before something is sent, so that a gateway serves while the brokers are away. */
  #connect(): Promise<KafkaProducer> {
    this.#producer ??= createTopics(this.#cluster, this.#config).then(() => this.#cluster.producer());
    this.#producer.catch(() => {
      this.#producer = undefined;
    });
    return this.#producer;
  }
}
