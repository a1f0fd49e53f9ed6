/** What a worker adds to the stores it writes to: topics through it beside inserts of what was put together before. */

import { setTimeout as pause } from 'node:timers/promises';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import type { OutgoingRecord } from '../ingest/sources/kafka/producer.js';
import { topicOf } from '../ingest/sources/kafka/topics.js';
import { networkADeliveries } from '../ingest/streams/network-a-deliveries.js';
import { DeliveryRecord } from '../services/advertising/records.js';
import { type KafkaConfig, loadConfig } from '../services/shared/config.js';
import { inOrder } from '../services/shared/record-order.js';
import { deliveryRows } from '../services/stores/clickhouse/rows.js';
import { openAnalyticsStore } from '../services/stores/clickhouse/store.js';
import { startClickHouse } from '../test/stack/clickhouse.js';
import { startKafka } from '../test/stack/kafka.js';
import { startServer } from '../test/support/server-process.js';
import { nextGroup, produce, reportedBy } from './kafka-support.js';
import { type Comparison, compare, type Figure, figure } from './measure.js';
import { randomSource } from './synthetic-contacts.js';

const DELIVERIES = 300_000;
const INSERT_RECORDS = 10_000;
const INSERTS_AT_ONCE = 4;
const ROUNDS = 3;
const IDLE_SECONDS = 60;

interface Bench {
  environment: Record<string, string>;
  kafka: KafkaConfig;
  client: ClickHouseClient;
  records: OutgoingRecord[];
}

export async function benchKafka(
  folder: string,
  note: (text: string) => void,
): Promise<(Comparison | Figure)[]> {
  note('Kafka and ClickHouse start …');
  const [broker, server] = await Promise.all([startKafka(), startClickHouse()]);
  const environment = { KAFKA_BROKERS: broker.address, CLICKHOUSE_URL: server.address };
  const { kafka, clickhouse } = loadConfig(environment);
  if (!kafka || !clickhouse) throw new Error('there are no addresses');
  const { store } = await openAnalyticsStore(clickhouse);
  await store.close();
  const client = createClient({ url: clickhouse.urls[0], database: `${clickhouse.database}_tables` });
  try {
    const bench = { environment, kafka, client, records: deliveries() };
    note('deliveries into the topic …');
    await produce(kafka, networkADeliveries.name, bench.records);
    const worker = () => through(bench, 'worker.js', networkADeliveries.name);
    const results: (Comparison | Figure)[] = [];
    note('worker beside prepared inserts …');
    const name = (base: string) => `deliveries from Kafka into ClickHouse, worker ÷ ${base}`;
    const raw = await prepared(bench);
    results.push(
      await compare(name('prepared inserts'), 'records/s', { atLeast: 0.75 }, ROUNDS, worker, raw),
    );
    note('worker beside the Kafka table engine …');
    const engine = () => throughEngine(bench);
    results.push(
      await compare(name('Kafka table engine'), 'records/s', { atLeast: 3 }, ROUNDS, worker, engine),
    );
    note('an idle worker …');
    results.push(await idle(folder, environment));
    return results;
  } finally {
    await client.close();
    await Promise.all([broker.remove(), server.remove()]);
  }
}

function deliveries(): OutgoingRecord[] {
  const random = randomSource(3);
  const whole = (limit: number) => Math.floor(random() * limit);
  return Array.from({ length: DELIVERIES }, (_, index) => {
    const record = {
      organization_id: `org_${index % 10}`,
      date: `2026-0${1 + whole(9)}-${String(1 + whole(28)).padStart(2, '0')}`,
      campaign_id: `cmp_${whole(200)}`,
      creative_id: `crt_${index}`,
      impressions: whole(100_000),
      clicks: whole(1000),
      landing_page_clicks: whole(500),
      engagements: whole(500),
      leads: whole(20),
      conversions: whole(10),
      ad_spend: `${whole(500)}.${10 + whole(90)}`,
      conversion_value: String(whole(5000)),
      reported_at: '2026-10-01T06:00:00Z',
    };
    return { key: networkADeliveries.key(record as never), value: JSON.stringify(record) };
  });
}

/** What earlier rounds left behind would be merged with the new, at a cost that grows. */
const empty = ({ client }: Bench) => client.command({ query: 'TRUNCATE TABLE creative_deliveries' });

/** Records a second, from the first that comes to the last that is in the store. */
async function through(bench: Bench, script: string, ...args: string[]): Promise<number> {
  await empty(bench);
  return reportedBy(script, [...args, String(DELIVERIES)], {
    ...bench.environment,
    KAFKA_GROUP: nextGroup(),
  });
}

async function prepared(bench: Bench): Promise<() => Promise<number>> {
  const { client, records } = bench;
  const bodies: string[] = [];
  let columns: readonly string[] = [];
  for (let start = 0; start < records.length; start += INSERT_RECORDS) {
    const some = records.slice(start, start + INSERT_RECORDS).map(({ value }) => JSON.parse(String(value)));
    const rows = deliveryRows(inOrder(some as DeliveryRecord[], 0, start));
    bodies.push(rows.text);
    columns = rows.columns;
  }
  return async () => {
    await empty(bench);
    const begun = performance.now();
    const open = [...bodies];
    const send = async () => {
      for (let body = open.shift(); body; body = open.shift()) {
        await client.command({
          query: `INSERT INTO deliveries (${columns.join(', ')}) FORMAT TabSeparated\n${body}`,
        });
      }
    };
    await Promise.all(Array.from({ length: INSERTS_AT_ONCE }, send));
    return DELIVERIES / ((performance.now() - begun) / 1000);
  };
}

/** ClickHouse's own consumer, which a materialized view feeds from. */
async function throughEngine(bench: Bench): Promise<number> {
  const { kafka, client } = bench;
  const names = Object.keys(DeliveryRecord.properties);
  const columns = names.map((name) => `${name} ${name === 'date' ? 'Date' : columnType(name)}`);
  const summed = names.filter((name) => columnType(name) !== 'String' && name !== 'date');
  await empty(bench);
  await client.command({
    query: `CREATE TABLE queue (${columns.join(', ')}) ENGINE = Kafka
      SETTINGS kafka_broker_list = '${kafka.brokers}', kafka_topic_list = '${topicOf(kafka, networkADeliveries.name)}',
        kafka_group_name = '${nextGroup()}', kafka_format = 'JSONEachRow', kafka_num_consumers = 1`,
  });
  const begun = performance.now();
  await client.command({
    query: `CREATE MATERIALIZED VIEW take TO deliveries AS
      SELECT organization_id, date, campaign_id, creative_id, company_id, ${summed.join(', ')},
        toUnixTimestamp64Milli(parseDateTime64BestEffort(reported_at, 3)) AS version FROM queue`,
  });
  while ((await countRows(client)) < DELIVERIES) await pause(50);
  const rate = DELIVERIES / ((performance.now() - begun) / 1000);
  await client.command({ query: 'DROP TABLE take' });
  await client.command({ query: 'DROP TABLE queue' });
  return rate;
}

function columnType(name: string): string {
  if (name === 'ad_spend' || name === 'conversion_value') return 'Decimal(38, 12)';
  return /_id$|_at$/.test(name) ? 'String' : 'UInt64';
}

/** Every key comes once, so that what is not merged yet is no more. */
async function countRows(client: ClickHouseClient): Promise<number> {
  const result = await client.query({
    query: "SELECT count() AS rows FROM creative_deliveries WHERE campaign_id != ''",
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ rows: string }>();
  return Number(row?.rows);
}

/** Of a core, all streams, while nothing comes, and once the garbage of what came before is collected. */
async function idle(dataDir: string, environment: Record<string, string>): Promise<Figure> {
  const worker = await startServer({
    dataDir,
    args: ['worker'],
    environment: { ...environment, KAFKA_GROUP: 'bench-idle', REACHLINE_WORKER_PORT: '0' },
  });
  try {
    await pause(IDLE_SECONDS * 1000);
    const before = await cpuSeconds(worker.url);
    await pause(IDLE_SECONDS * 1000);
    const percent = ((await cpuSeconds(worker.url)) - before) * (100 / IDLE_SECONDS);
    return figure('processor time of an idle worker', '% of a core', percent, { atMost: 3 });
  } finally {
    await worker.stop();
  }
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total ([\d.]+)/m.exec(text)?.[1]);
}
