import { randomBytes } from 'node:crypto';
import { KafkaCluster } from '../../../ingest/sources/kafka/cluster.js';
import type { OutgoingRecord } from '../../../ingest/sources/kafka/producer.js';
import type { KafkaRecord } from '../../../ingest/sources/kafka/record.js';
import { createTopics, deadLetterTopicOf, topicOf } from '../../../ingest/sources/kafka/topics.js';
import type { StreamName } from '../../../ingest/streams/index.js';
import { type KafkaConfig, loadConfig } from '../../../services/shared/config.js';
import { createLogger } from '../../../services/shared/logger.js';
import { afterFile } from '../../support/opened.js';
import { until } from '../../support/until.js';

/** Topics and groups for one test, by default on the broker of the environment, until the end of the test file. */
export interface TestTopics {
  config: KafkaConfig;
  cluster: KafkaCluster;
  /** Environment of a worker of these topics. */
  environment: Record<string, string>;
  /** Sends records in order. Resolves when the broker has them. */
  produce(stream: StreamName, records: readonly OutgoingRecord[]): Promise<void>;
  /** Resolves when readers see `count` records. Records of a transaction appear some time after its commit is acknowledged. */
  visible(stream: StreamName, count: number): Promise<void>;
  /** Resolves when the workers have committed every visible record. */
  drained(...streams: StreamName[]): Promise<void>;
  behind(stream: StreamName): Promise<number>;
  deadLetters(stream: StreamName): Promise<KafkaRecord[]>;
}

const RECORDS_PER_REQUEST = 2000;
/** Long enough for a million records to be read. */
export const POLLING = { pollMs: 100, timeoutMs: 600_000 };

interface TopicOptions {
  /** Addresses of the brokers; by default from the environment. */
  brokers?: string;
  partitions?: number;
}

export async function testTopics({
  brokers = process.env.KAFKA_BROKERS ?? '',
  partitions = 6,
}: TopicOptions = {}): Promise<TestTopics> {
  if (brokers === '') throw new Error('KAFKA_BROKERS names no broker; npm run test:stack starts one');
  const name = `test-${randomBytes(5).toString('hex')}`;
  const environment = {
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP: name,
    KAFKA_SESSION_TIMEOUT_MS: '6000',
    REACHLINE_TOPIC_PREFIX: `${name}.`,
    REACHLINE_TOPIC_PARTITIONS: String(partitions),
  };
  const { kafka: config } = loadConfig(environment);
  if (!config) throw new Error('KAFKA_BROKERS names no broker');
  const cluster = new KafkaCluster(config, createLogger('silent'));
  afterFile(() => cluster.close());
  await createTopics(cluster, config);
  const producer = await cluster.producer();
  const behind = async (stream: StreamName) => {
    const lag = await cluster.lag(`${config.group}-${stream}`, topicOf(config, stream));
    return Number([...lag.values()].reduce((sum, each) => sum + each, 0n));
  };
  return {
    config,
    cluster,
    environment,
    behind,
    async produce(stream, records) {
      for (let start = 0; start < records.length; start += RECORDS_PER_REQUEST) {
        await producer.send(topicOf(config, stream), records.slice(start, start + RECORDS_PER_REQUEST));
      }
    },
    async visible(stream, count) {
      const isVisible = async () => {
        let seen = 0;
        await cluster.readAll(topicOf(config, stream), async (records) => {
          seen += records.length;
          return true;
        });
        return seen >= count;
      };
      await until(isVisible, `readers see ${count} records of ${stream}`, POLLING);
    },
    async drained(...streams) {
      for (const stream of streams) {
        const isDrained = async () => (await behind(stream).catch(() => 1)) === 0;
        await until(isDrained, `the workers have committed every record of ${stream}`, POLLING);
      }
    },
    async deadLetters(stream) {
      const letters: KafkaRecord[] = [];
      await cluster.readAll(deadLetterTopicOf(topicOf(config, stream)), async (records) => {
        letters.push(...records);
        return true;
      });
      return letters;
    },
  };
}
