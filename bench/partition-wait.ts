/** How long a partition waits while others bring records that are rejected. */
import { setTimeout as pause } from 'node:timers/promises';
import { KafkaCluster } from '../ingest/sources/kafka/cluster.js';
import { topicOf } from '../ingest/sources/kafka/topics.js';
import { loadConfig } from '../services/shared/config.js';
import { createLogger } from '../services/shared/logger.js';
import { withPoison } from '../test/at-scale/kafka/poison.js';
import { histories, STREAMS } from '../test/at-scale/kafka/workers.js';
import { startClickHouse } from '../test/stack/clickhouse.js';
import { startElasticsearch } from '../test/stack/elasticsearch.js';
import { startKafka } from '../test/stack/kafka.js';
import { Random } from '../test/support/random.js';
import { startServer } from '../test/support/server-process.js';
import { produce } from './kafka-support.js';
import { type Figure, figure } from './measure.js';

/** Half as many visits and a fifth as many contacts wait with them, each with its repetitions. */
const DELIVERIES = 200_000;
const POLL_MS = 200;

/** The longest time without a commit of a partition, over a backlog of which one record in a hundred is rejected. */
export async function benchPartitionWait(dataDir: string, note: (text: string) => void): Promise<Figure> {
  note('Kafka, Elasticsearch and ClickHouse start …');
  const servers = await Promise.all([
    startKafka(),
    startElasticsearch({ heapMegabytes: 1024 }),
    startClickHouse(),
  ]);
  const [broker, search, analytics] = servers;
  const environment = {
    KAFKA_BROKERS: broker.address,
    ELASTICSEARCH_URL: search.address,
    CLICKHOUSE_URL: analytics.address,
  };
  const { kafka } = loadConfig(environment);
  if (!kafka) throw new Error('there is no address');
  const cluster = new KafkaCluster(kafka, createLogger('silent'));
  try {
    note('records and poison into the topics …');
    const random = new Random(5);
    const sent = histories(random, DELIVERIES);
    for (const stream of STREAMS) await produce(kafka, stream, withPoison(random, sent[stream].records));
    const worker = await startServer({
      dataDir,
      args: ['worker', '--streams', STREAMS.join(',')],
      environment: { ...environment, REACHLINE_WORKER_PORT: '0' },
    });
    note('a worker catches up …');
    const waits = STREAMS.map((stream) =>
      longestWaitMs(() => cluster.lag(`${kafka.group}-${stream}`, topicOf(kafka, stream))),
    );
    const longest = Math.max(...(await Promise.all(waits)));
    await worker.stop();
    return figure('longest wait of a partition, 1 % of the records refused', 's', longest / 1000, {
      atMost: 5,
    });
  } finally {
    await cluster.close();
    await Promise.all(servers.map((server) => server.remove()));
  }
}

/** From the first commit of any partition until none has lag. */
async function longestWaitMs(lag: () => Promise<ReadonlyMap<number, bigint>>): Promise<number> {
  const begin = await lag();
  const last = new Map<number, { behind: bigint; at: number }>();
  let longest = 0;
  for (;;) {
    const now = performance.now();
    const behind = await lag();
    const isBegun = last.size > 0 || [...behind].some(([partition, left]) => left !== begin.get(partition));
    for (const [partition, left] of isBegun ? behind : []) {
      const before = last.get(partition);
      if (before) longest = Math.max(longest, now - before.at);
      if (left === 0n) last.delete(partition);
      else if (before?.behind !== left) last.set(partition, { behind: left, at: now });
    }
    if ([...behind.values()].every((left) => left === 0n)) return longest;
    await pause(POLL_MS);
  }
}
