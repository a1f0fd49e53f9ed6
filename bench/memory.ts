/** The memory of a worker that is busy for minutes. */
import { setTimeout as pause } from 'node:timers/promises';
import { KafkaCluster } from '../ingest/sources/kafka/cluster.js';
import type { OutgoingRecord } from '../ingest/sources/kafka/producer.js';
import { createTopics, topicOf } from '../ingest/sources/kafka/topics.js';
import { contacts } from '../ingest/streams/contacts.js';
import { networkADeliveries } from '../ingest/streams/network-a-deliveries.js';
import { loadConfig } from '../services/shared/config.js';
import { createLogger } from '../services/shared/logger.js';
import { startClickHouse } from '../test/stack/clickhouse.js';
import { startElasticsearch } from '../test/stack/elasticsearch.js';
import { startKafka } from '../test/stack/kafka.js';
import { startServer } from '../test/support/server-process.js';
import { type Figure, figure, median } from './measure.js';
import { syntheticContacts } from './synthetic-contacts.js';

const SECOND = { deliveries: 2000, contacts: 300 };
const SAMPLE_MS = 5000;

/** Median memory of the last fifth of the time ÷ that of the second fifth: in the first it grows to what it needs. */
export async function benchMemory(
  dataDir: string,
  minutes: number,
  note: (text: string) => void,
): Promise<Figure[]> {
  note('Kafka, Elasticsearch and ClickHouse start …');
  const [broker, search, analytics] = await Promise.all([
    startKafka(),
    startElasticsearch({ heapMegabytes: 1024 }),
    startClickHouse(),
  ]);
  const environment = {
    KAFKA_BROKERS: broker.address,
    ELASTICSEARCH_URL: search.address,
    CLICKHOUSE_URL: analytics.address,
  };
  const worker = await startServer({
    dataDir,
    args: ['worker'],
    environment: { ...environment, REACHLINE_WORKER_PORT: '0' },
  });
  const producing = new AbortController();
  try {
    const produced = produceSteadily(environment, producing.signal);
    const samples: number[] = [];
    const count = Math.round((minutes * 60_000) / SAMPLE_MS);
    while (samples.length < count) {
      await Promise.race([pause(SAMPLE_MS), produced]);
      samples.push(await metric(worker.url, 'process_resident_memory_bytes'));
      note(`memory of a busy worker: ${samples.length} of ${count} samples …`);
    }
    producing.abort();
    const sent = await produced;
    const applied = await metric(worker.url, 'reachline_worker_records_total');
    const fifth = Math.floor(count / 5);
    const early = median(samples.slice(fifth, 2 * fifth));
    const late = median(samples.slice(-fifth));
    return [
      figure(`memory of a worker, end of ${minutes} minutes ÷ begin`, '×', late / early, { atMost: 1.1 }),
      figure('memory of that worker', 'MB', late / 2 ** 20, {}),
      figure('records it applied ÷ records it was sent', '×', applied / sent, { atLeast: 0.95 }),
    ];
  } finally {
    producing.abort();
    await worker.stop();
    await Promise.all([broker.remove(), search.remove(), analytics.remove()]);
  }
}

/** So many records a second; resolves with their number. */
async function produceSteadily(environment: Record<string, string>, signal: AbortSignal): Promise<number> {
  const { kafka } = loadConfig(environment);
  if (!kafka) throw new Error('there is no address');
  const cluster = new KafkaCluster(kafka, createLogger('silent'));
  await createTopics(cluster, kafka);
  const producer = await cluster.producer();
  const people = [...syntheticContacts(SECOND.contacts * 100, 10)];
  let sent = 0;
  for (let second = 0; !signal.aborted; second++) {
    const due = pause(1000);
    const some = Array.from({ length: SECOND.deliveries }, (_, index) => delivery(second, index));
    const start = (second % 100) * SECOND.contacts;
    const changed = people.slice(start, start + SECOND.contacts).map((contact): OutgoingRecord => {
      return { key: contacts.key(contact as never), value: JSON.stringify(contact) };
    });
    await producer.send(topicOf(kafka, networkADeliveries.name), some);
    await producer.send(topicOf(kafka, contacts.name), changed);
    sent += some.length + changed.length;
    await due;
  }
  await cluster.close();
  return sent;
}

function delivery(second: number, index: number): OutgoingRecord {
  const record = {
    organization_id: `org_${index % 10}`,
    date: new Date(Date.UTC(2026, 0, 1 + (second % 300))).toISOString().slice(0, 10),
    campaign_id: `cmp_${index % 200}`,
    creative_id: `crt_${index}`,
    impressions: index,
    clicks: second,
    ad_spend: '12.50',
  };
  return { key: networkADeliveries.key(record as never), value: JSON.stringify(record) };
}

/** The sum of all series of a metric. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? ([\\d.e+]+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}
