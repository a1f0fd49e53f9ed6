/** What `doctor` looks at on the servers that the settings name; nothing there is changed. */
import { INTERACTIVE_RETRY, KafkaUnavailableError } from '../../ingest/sources/kafka/client.js';
import { KafkaCluster } from '../../ingest/sources/kafka/cluster.js';
import { missingTopics } from '../../ingest/sources/kafka/topics.js';
import type { Config, KafkaConfig } from '../shared/config.js';
import { createLogger } from '../shared/logger.js';
import { StoreTimeoutError, StoreUnavailableError } from '../shared/store-errors.js';
import { inspectClickHouse } from '../stores/clickhouse/inspect.js';
import { inspectElasticsearch } from '../stores/elasticsearch/inspect.js';
import { explain, noAnswer } from './errors.js';

/** What a check found; a problem says what to do. */
export type Finding = { good: string } | { problem: string };

const ELASTICSEARCH_MAJOR = 9;
const MIGRATE = 'Run: reachline migrate';

export async function checkServers({ elasticsearch, clickhouse, kafka }: Config): Promise<Finding[]> {
  const [search, analytics, brokers] = await Promise.all([
    elasticsearch ? found(() => checkElasticsearch(elasticsearch)) : [],
    clickhouse ? found(() => checkClickHouse(clickhouse)) : [],
    kafka ? checkKafka(kafka) : [],
  ]);
  return [...search, ...analytics, ...brokers];
}

async function checkElasticsearch(config: NonNullable<Config['elasticsearch']>): Promise<Finding[]> {
  const { versions, health, missing, outdated } = await inspectElasticsearch(config);
  const count = versions.length === 1 ? 'one node' : `${versions.length} nodes`;
  const version = [...new Set(versions)].sort().join(', ');
  const findings: Finding[] = [{ good: `Elasticsearch ${version} answers, ${count}, health ${health}` }];
  if (versions.some((each) => Number.parseInt(each, 10) < ELASTICSEARCH_MAJOR)) {
    findings.push({
      problem: `Elasticsearch ${version} is too old: upgrade it to ${ELASTICSEARCH_MAJOR} or newer`,
    });
  }
  if (health === 'red') {
    findings.push({
      problem: 'Elasticsearch lacks shards (health red): see GET /_cluster/allocation/explain',
    });
  }
  if (outdated.length > 0) {
    findings.push({ problem: `Of an older version: ${outdated.join(', ')}. ${MIGRATE}` });
  }
  if (missing.length > 0) {
    findings.push({ good: `serve makes the indices that are missing: ${missing.join(', ')}` });
  } else if (outdated.length === 0) {
    findings.push({ good: `The indices ${config.indexPrefix}-* are up to date` });
  }
  return findings;
}

async function checkClickHouse(config: NonNullable<Config['clickhouse']>): Promise<Finding[]> {
  const { version, missing } = await inspectClickHouse(config);
  return [
    { good: `ClickHouse ${version} answers` },
    missing.length === 0
      ? { good: `The tables in ${config.database} are up to date` }
      : { good: `serve brings the tables up to date: ${missing.length} migrations from ${missing[0]} on` },
  ];
}

/** Each broker by itself, as clients are content with any of them until that one is away. */
async function checkKafka(config: KafkaConfig): Promise<Finding[]> {
  const brokers = await Promise.all(
    config.brokers.map(async (broker) => {
      const finding = await onKafka({ ...config, brokers: [broker] }, async (cluster) => {
        await cluster.ping();
        return { good: `Kafka answers at ${broker}` };
      });
      return { broker, finding };
    }),
  );
  const answering = brokers.flatMap(({ broker, finding }) => ('good' in finding ? [broker] : []));
  const findings = brokers.map(({ finding }) => finding);
  if (answering.length === 0) return findings;
  const topics = await onKafka({ ...config, brokers: answering }, async (cluster) => {
    const missing = await missingTopics(cluster, config);
    // A producer that comes first may make them, with settings of its own.
    if (missing.length > 0) return { problem: `Topics are missing: ${missing.join(', ')}. ${MIGRATE}` };
    return { good: 'The topics of all streams and of their dead letters are there' };
  });
  return [...findings, topics];
}

async function onKafka(
  config: KafkaConfig,
  check: (cluster: KafkaCluster) => Promise<Finding>,
): Promise<Finding> {
  const cluster = new KafkaCluster(config, createLogger('silent'), INTERACTIVE_RETRY);
  try {
    return await check(cluster);
  } catch (error) {
    const { message } = (error instanceof KafkaUnavailableError ? error.cause : error) as Error;
    return {
      problem: `Kafka does not answer at ${config.brokers.join(', ')} (${message}): check that it runs, and the settings KAFKA_*`,
    };
  } finally {
    await cluster.close();
  }
}

async function found(check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof StoreTimeoutError) {
      return [{ problem: cannotAnswer(error) }];
    }
    return [{ problem: explain(error).message }];
  }
}

export const cannotAnswer = (error: StoreUnavailableError | StoreTimeoutError): string =>
  `${noAnswer(error, error.store)}: check that it runs, and its address, user name and password in the settings`;
