/** All requests to a Kafka cluster, over one connection. */
import type { Logger } from 'pino';
import type { KafkaConfig } from '../../../services/shared/config.js';
import { KafkaAdmin } from './admin.js';
import { BACKGROUND_RETRY, KafkaClient } from './client.js';
import { type ConsumeOptions, type RunningConsumer, startConsumer } from './consumer.js';
import { type RecordSender, recordSender } from './producer.js';
import { type OnRecords, type ReadOptions, readTopic } from './reader.js';

export class KafkaCluster extends KafkaAdmin {
  readonly #client: KafkaClient;

  constructor(config: KafkaConfig, logger: Logger, retry = BACKGROUND_RETRY) {
    const client = new KafkaClient(config, logger, retry);
    super(client);
    this.#client = client;
  }

  /** See `startConsumer`. */
  consume(options: ConsumeOptions): Promise<RunningConsumer> {
    return startConsumer(this.#client, this, options);
  }

  async producer(): Promise<RecordSender> {
    const producer = this.#client.producer();
    await producer.connect();
    return recordSender(producer, this.#client.retry);
  }

  /** See `readTopic`. */
  readAll(topic: string, onRecords: OnRecords, options?: ReadOptions): Promise<void> {
    return readTopic(this.#client, this, topic, onRecords, options);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
