import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { expect } from 'chai';
import type { OutgoingRecord } from '../../../ingest/sources/kafka/producer.js';
import type { StreamName } from '../../../ingest/streams/index.js';
import { loadConfig } from '../../../services/shared/config.js';
import { planClickHouse } from '../../stack/clickhouse.js';
import { startElasticsearch } from '../../stack/elasticsearch.js';
import { startKafka } from '../../stack/kafka.js';
import { type Server, type ServerPlan, startServer } from '../../stack/server.js';
import { Random, SEED } from '../../support/random.js';
import type { ServerProcess } from '../../support/server-process.js';
import { until } from '../../support/until.js';
import { POLLING, type TestTopics, testTopics } from './topics.js';
import {
  type Histories,
  histories,
  prepareStores,
  rebalances,
  type Servers,
  STREAMS,
  Workers,
} from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 8000);
const KILLS = Number(process.env.TEST_STORE_KILLS ?? 1);
const AWAY_MS = Number(process.env.TEST_AWAY_MS ?? 5000);
const PASSWORD = 'the right one';

describe(`a worker whose servers are killed (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(120_000 + KILLS * (120_000 + AWAY_MS));
  let elasticsearch: Server;
  let clickhouse: Server;
  let clickhousePlan: ServerPlan;
  let kafka: Server;
  let topics: TestTopics;
  let workers: Workers;
  let stores: Servers;

  before(async () => {
    clickhousePlan = await planClickHouse({ password: PASSWORD });
    [elasticsearch, clickhouse, kafka] = await Promise.all([
      startElasticsearch({ heapMegabytes: 512 }),
      startServer(clickhousePlan),
      startKafka(),
    ]);
    const config = loadConfig({
      ELASTICSEARCH_URL: elasticsearch.address,
      CLICKHOUSE_URL: clickhouse.address,
      CLICKHOUSE_PASSWORD: PASSWORD,
    });
    if (!config.elasticsearch || !config.clickhouse) throw new Error('there are no addresses');
    stores = { elasticsearch: config.elasticsearch, clickhouse: config.clickhouse };
    await prepareStores(stores);
  });
  after(async () => {
    await Promise.all([elasticsearch, clickhouse, kafka].map((server) => server?.remove()));
  });

  beforeEach(async () => {
    topics = await testTopics({ brokers: kafka.address });
    workers = new Workers(topics, stores);
  });
  afterEach(async () => {
    await workers.killAll();
    await topics.close();
  });

  /** Starts a worker again when it ends, as whatever runs it does, until told to stop. */
  function supervise(worker: ServerProcess): { stop(): void } {
    let over = false;
    void (async () => {
      for (let running = worker; !over; running = await workers.start()) {
        await running.ended;
        if (over) return;
      }
    })();
    return {
      stop() {
        over = true;
      },
    };
  }

  /** One try ends before the next begins, however long it takes: one given up might arrive after records that were sent later. */
  async function isProduced(stream: StreamName, records: readonly OutgoingRecord[]): Promise<boolean> {
    return topics.produce(stream, records).then(
      () => true,
      () => false,
    );
  }

  /** Sends everything in pieces, each until the broker has it, while something else happens. */
  async function produceSlowly(history: Histories, meanwhile: Promise<unknown>): Promise<void> {
    let over = false;
    void meanwhile.finally(() => {
      over = true;
    });
    const pieces = 50;
    for (let piece = 0; piece < pieces; piece++) {
      for (const stream of STREAMS) {
        const { records } = history[stream];
        const size = Math.ceil(records.length / pieces);
        const some = records.slice(piece * size, (piece + 1) * size);
        await until(() => isProduced(stream, some), `some records of ${stream} are produced`, POLLING);
      }
      if (!over) await pause(200);
    }
  }

  for (const [name, server, kills, awayMs] of [
    ['Elasticsearch', () => elasticsearch, KILLS, 1500],
    ['ClickHouse', () => clickhouse, Math.ceil(KILLS / 2), AWAY_MS],
    ['Kafka', () => kafka, KILLS, 1500],
  ] as const) {
    it(`${name} killed ${kills} times, and away for ${awayMs / 1000} s: every record is stored once`, async () => {
      const history = histories(new Random(SEED), COUNT);
      const worker = await workers.start();
      const isBroker = name === 'Kafka';
      const supervised = isBroker ? supervise(worker) : undefined;
      const killing = (async () => {
        for (let kill = 0; kill < kills; kill++) {
          await pause(1500);
          await server().kill();
          await pause(awayMs);
          await server().start();
        }
      })();
      await produceSlowly(history, killing);
      await killing;
      if (isBroker) await topics.drained(...STREAMS);
      else await workers.drained(...STREAMS);
      supervised?.stop();
      await workers.expectState(history);
      expect(await workers.deadLetters()).to.deep.equal([]);
      if (!isBroker) expect(rebalances(worker), worker.output()).to.equal(0);
    });
  }

  it('waits for a missing table', async () => {
    const history = histories(new Random(SEED), COUNT);
    const worker = await workers.start();
    const { url, username, password, database } = stores.clickhouse;
    const client = createClient({ url, username, password });
    const tables = `${database}_tables`;
    await client.command({ query: `RENAME TABLE ${tables}.creative_deliveries TO ${tables}.away` });
    for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    await workers.drained('website-visits', 'contacts');
    await pause(AWAY_MS);
    expect(await topics.behind('network-a-deliveries')).to.equal(
      history['network-a-deliveries'].records.length,
    );
    await client.command({ query: `RENAME TABLE ${tables}.away TO ${tables}.creative_deliveries` });
    await workers.drained('network-a-deliveries');
    await workers.expectState(history);

    expect(rebalances(worker), worker.output()).to.equal(0);
    expect(await workers.deadLetters()).to.deep.equal([]);
    await client.close();
  });

  it('waits while its password is wrong', async () => {
    const history = histories(new Random(SEED), COUNT);
    const worker = await workers.start();
    await clickhouse.stop();
    const environment = { ...clickhousePlan.environment, CLICKHOUSE_PASSWORD: 'another' };
    const other = await startServer({ ...clickhousePlan, environment });
    for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    await workers.drained('contacts');
    await pause(AWAY_MS);
    expect(await topics.behind('network-a-deliveries')).to.equal(
      history['network-a-deliveries'].records.length,
    );
    await other.stop();
    await clickhouse.start();
    await workers.drained('network-a-deliveries', 'website-visits');
    await workers.expectState(history);
    expect(rebalances(worker), worker.output()).to.equal(0);
    expect(await workers.deadLetters()).to.deep.equal([]);
  });
});
