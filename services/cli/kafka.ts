import { INTERACTIVE_RETRY } from '../../ingest/sources/kafka/client.js';
import { KafkaCluster } from '../../ingest/sources/kafka/cluster.js';
import { type KafkaConfig, loadConfig } from '../shared/config.js';
import { UsageError } from './errors.js';
import type { Io } from './io.js';
import { openLog } from './log.js';

export function requireKafka(config: KafkaConfig | null): KafkaConfig {
  if (!config) throw new UsageError('Set KAFKA_BROKERS to the brokers, such as 127.0.0.1:9092.');
  return config;
}

/** Connects to Kafka while `work` runs. Throws `KafkaUnavailableError` within seconds, because a person waits for the command. */
export async function withKafka<T>(
  io: Io,
  work: (cluster: KafkaCluster, config: KafkaConfig) => Promise<T>,
): Promise<T> {
  const config = loadConfig(io.env);
  const kafka = requireKafka(config.kafka);
  const logLevel = config.logLevel === 'info' ? 'error' : config.logLevel;
  const cluster = new KafkaCluster(kafka, openLog(io, { ...config, logLevel }), INTERACTIVE_RETRY);
  try {
    return await work(cluster, kafka);
  } finally {
    await cluster.close();
  }
}
