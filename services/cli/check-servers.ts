/** Checks of `doctor` on the configured servers. They change nothing there. */
import { INTERACTIVE_RETRY, KafkaUnavailableError } from '../../ingest/sources/kafka/client.js';
import { KafkaCluster } from '../../ingest/sources/kafka/cluster.js';
import {
  findOtherSettings,
  findReplicationProblems,
  missingTopics,
} from '../../ingest/sources/kafka/topics.js';
import { describeSkew, MAX_SKEW_MS } from '../shared/clock-comparison.js';
import type { Config, KafkaConfig } from '../shared/config.js';
import { createLogger } from '../shared/logger.js';
import {
  DiskFullError,
  type StoreName,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../shared/store-errors.js';
import { formatTimestamp } from '../shared/time.js';
import { inspectClickHouse, type ServerReport } from '../stores/clickhouse/inspect.js';
import { inspectElasticsearch } from '../stores/elasticsearch/inspect.js';
import type { LeaseHolder } from '../stores/elasticsearch/lease.js';
import { diskFull, explain, noAnswer } from './errors.js';

/** Result of a check. `failed` and `warning` say how to fix the problem. */
export type CheckResult = { ok: string } | { warning: string } | { failed: string };

const ELASTICSEARCH_MAJOR = 9;
/** A migration may hold the lock for hours; other work holds it for seconds. */
const LONG_HELD_MS = 60_000;
const LATE_SECONDS = 60;
const MIGRATE = 'Run: reachline migrate';

export async function checkServers({ elasticsearch, clickhouse, kafka }: Config): Promise<CheckResult[]> {
  const [search, analytics, brokers] = await Promise.all([
    elasticsearch ? found(() => checkElasticsearch(elasticsearch)) : [],
    clickhouse ? found(() => checkClickHouse(clickhouse)) : [],
    kafka ? checkKafka(kafka) : [],
  ]);
  return [...search, ...analytics, ...brokers];
}

export const describeLockHolder = ({ name, since }: LeaseHolder): string =>
  `The lock of migrations is held by ${name} since ${formatTimestamp(since)}`;

async function checkElasticsearch(config: NonNullable<Config['elasticsearch']>): Promise<CheckResult[]> {
  const { versions, health, missing, outdated, otherShards, blocked, lockHolder, skewMs } =
    await inspectElasticsearch(config);
  const count = versions.length === 1 ? 'one node' : `${versions.length} nodes`;
  const version = [...new Set(versions)].sort().join(', ');
  const results: CheckResult[] = [{ ok: `Elasticsearch ${version} answers, ${count}, health ${health}` }];
  if (versions.some((each) => Number.parseInt(each, 10) < ELASTICSEARCH_MAJOR)) {
    results.push({
      failed: `Elasticsearch ${version} is too old: upgrade it to ${ELASTICSEARCH_MAJOR} or newer`,
    });
  }
  results.push(...checkClock('records', skewMs));
  if (health === 'red') {
    results.push({
      failed: 'Elasticsearch lacks shards (health red): see GET /_cluster/allocation/explain',
    });
  }
  if (health === 'yellow') {
    results.push({
      failed: 'Elasticsearch lacks copies of shards (health yellow): see GET /_cluster/allocation/explain',
    });
  }
  if (versions.length > 1 && config.nodes.length === 1) {
    results.push({
      warning: `ELASTICSEARCH_URL names one of ${versions.length} nodes: name the others too, unless it is a load balancer`,
    });
  }
  if (blocked.length > 0) {
    results.push({ failed: `Writes are blocked by a full disk or an operator: ${blocked.join(', ')}` });
  }
  if (outdated.length > 0) {
    results.push({ failed: `Older than this version: ${outdated.join(', ')}. ${MIGRATE}` });
  }
  for (const { resource, index, shards, perOrganization } of otherShards) {
    results.push({
      warning: `${index} has ${shards} shards, ${perOrganization} per organization; ELASTICSEARCH_SHARDS and ELASTICSEARCH_SHARDS_PER_ORGANIZATION are ${config.shards} and ${config.shardsPerOrganization}. ${MIGRATE} --rebuild ${resource}`,
    });
  }
  if (missing.length > 0) {
    results.push({ ok: `serve creates the missing indices: ${missing.join(', ')}` });
  } else if (outdated.length === 0) {
    results.push({ ok: `The indices ${config.indexPrefix}-* are up to date` });
  }
  if (lockHolder && Date.now() - lockHolder.since > LONG_HELD_MS) {
    results.push({
      warning: `${describeLockHolder(lockHolder)}; other migrations, erasures and retention wait for it`,
    });
  }
  return results;
}

async function checkClickHouse(config: NonNullable<Config['clickhouse']>): Promise<CheckResult[]> {
  const inspected = await inspectClickHouse(config);
  return inspected.flatMap(({ url, report }): CheckResult[] => {
    const where = inspected.length === 1 ? '' : ` at ${url}`;
    if (report instanceof Error) return [failure(report, where)];
    const { version, missing, followedAt, replication, skewMs } = report;
    const pending = `${missing.length} migrations from ${missing[0]} on`;
    const tables = `The tables in ${config.database}${where}`;
    return [
      { ok: `ClickHouse ${version} answers${where}` },
      ...checkClock('analytics', skewMs),
      ...(followedAt === null
        ? []
        : [{ ok: `SQL${where} shows contacts and audiences as of ${formatTimestamp(followedAt)}` }]),
      missing.length === 0
        ? { ok: `${tables} are up to date` }
        : replication
          ? { failed: `${tables} lack ${pending}. ${MIGRATE}` }
          : { ok: `serve updates the tables: ${pending}` },
      ...(replication && missing.length === 0 ? checkReplication(config, replication, where) : []),
    ];
  });
}

/** Returns no result if the clocks agree. */
const checkClock = (store: StoreName, skewMs: number): CheckResult[] =>
  Math.abs(skewMs) > MAX_SKEW_MS ? [{ failed: describeSkew(store, skewMs) }] : [];

function checkReplication(
  { cluster, urls }: NonNullable<Config['clickhouse']>,
  { servers, shards, total, active, read_only, delay_seconds }: NonNullable<ServerReport['replication']>,
  where: string,
): CheckResult[] {
  const results: CheckResult[] = [];
  if (servers !== urls.length || shards !== 1) {
    results.push({
      failed: `The cluster ${cluster} of ClickHouse${where} has ${servers} servers in ${shards} shards, CLICKHOUSE_URL names ${urls.length}: name each replica of its one shard`,
    });
  }
  if (total !== urls.length || active !== total) {
    results.push({
      failed: `ClickHouse${where} has ${active} of ${total} replicas, CLICKHOUSE_URL names ${urls.length}: see SELECT * FROM system.replicas`,
    });
  }
  if (read_only > 0) {
    results.push({
      failed: `${read_only} tables of ClickHouse${where} accept no writes: check ClickHouse Keeper`,
    });
  } else if (delay_seconds > LATE_SECONDS) {
    results.push({ warning: `ClickHouse${where} is ${delay_seconds} s behind the other replicas` });
  }
  return results;
}

/** Checks each broker separately, because a client succeeds as soon as one broker responds. */
async function checkKafka(config: KafkaConfig): Promise<CheckResult[]> {
  const brokers = await Promise.all(
    config.brokers.map(async (broker) => {
      const result = await onKafka({ ...config, brokers: [broker] }, async (cluster) => {
        await cluster.ping();
        return { ok: `Kafka answers at ${broker}` };
      });
      return { broker, result };
    }),
  );
  const answering = brokers.flatMap(({ broker, result }) => ('ok' in result ? [broker] : []));
  const results = brokers.map(({ result }) => result);
  if (answering.length === 0) return results;
  const topics = await onKafka({ ...config, brokers: answering }, async (cluster) => {
    const missing = await missingTopics(cluster, config);
    // If topics are missing, a producer may create them with other settings.
    if (missing.length > 0) return { failed: `Topics are missing: ${missing.join(', ')}. ${MIGRATE}` };
    const problems = await findReplicationProblems(cluster, config);
    if (problems.length > 0) return { failed: problems.join('\n') };
    const others = await findOtherSettings(cluster, config);
    if (others.length > 0) return { failed: others.join('\n') };
    return { ok: 'The topics of all streams and of their dead letters exist' };
  });
  return [...results, topics];
}

async function onKafka(
  config: KafkaConfig,
  check: (cluster: KafkaCluster) => Promise<CheckResult>,
): Promise<CheckResult> {
  const cluster = new KafkaCluster(config, createLogger('silent'), INTERACTIVE_RETRY);
  try {
    return await check(cluster);
  } catch (error) {
    const { message } = (error instanceof KafkaUnavailableError ? error.cause : error) as Error;
    return {
      failed: `Kafka does not answer at ${config.brokers.join(', ')} (${message}): check that it runs, and the settings KAFKA_*`,
    };
  } finally {
    await cluster.close();
  }
}

async function found(check: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  try {
    return await check();
  } catch (error) {
    return [failure(error)];
  }
}

const failure = (error: unknown, where = ''): CheckResult => ({
  failed:
    error instanceof StoreUnavailableError || error instanceof StoreTimeoutError
      ? cannotAnswer(error, where)
      : explain(error).message,
});

export function cannotAnswer(error: StoreUnavailableError | StoreTimeoutError, where = ''): string {
  if (error instanceof DiskFullError) return diskFull(error.store);
  return `${noAnswer(error, error.store)}${where}: check that it runs, and its address, user name and password in the settings`;
}
