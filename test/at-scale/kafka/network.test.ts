import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../../stack/free-port.js';
import { startKafka } from '../../stack/kafka.js';
import type { Server } from '../../stack/server.js';
import { MissingPrerequisite } from '../../stack/stack-error.js';
import { type NetworkProxy, startToxiproxy, type Toxic, type Toxiproxy } from '../../stack/toxiproxy.js';
import { afterFile } from '../../support/opened.js';
import { Random, SEED } from '../../support/random.js';
import type { ServerProcess } from '../../support/server-process.js';
import { until } from '../../support/until.js';
import { POLLING } from './topics.js';
import { histories, rebalances, STREAMS, useWorkers } from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 8000);
const ROUNDS = Number(process.env.TEST_FAULT_ROUNDS ?? 1);
const KILLS = Number(process.env.TEST_BROKER_KILLS ?? 1);
const FAULT_MS = 1500;
/** A broken store is noticed in less. */
const RETRIED_MS = 30_000;

const SERVERS = ['Kafka', 'Elasticsearch', 'ClickHouse'] as const;
type ServerName = (typeof SERVERS)[number];

interface Fault {
  toxics: Toxic[];
  /** Nothing gets through, so that what is written has to be written again. */
  breaks: boolean;
}

const FAULTS: Record<string, Fault> = {
  latency: {
    toxics: [{ type: 'latency', stream: 'downstream', attributes: { latency: 200, jitter: 150 } }],
    breaks: false,
  },
  'little bandwidth': {
    toxics: (['upstream', 'downstream'] as const).map((stream) => ({
      type: 'bandwidth',
      stream,
      attributes: { rate: 200 },
    })),
    breaks: false,
  },
  'connections that are reset': {
    toxics: [{ type: 'reset_peer', stream: 'downstream', attributes: { timeout: 10 } }],
    breaks: true,
  },
  'answers that do not come': {
    toxics: [{ type: 'timeout', stream: 'downstream', attributes: { timeout: 500 } }],
    breaks: true,
  },
  'answers cut short': {
    toxics: [{ type: 'limit_data', stream: 'downstream', attributes: { bytes: 10 } }],
    breaks: true,
  },
};

describe(`a worker whose network fails (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(1_800_000);
  let toxiproxy: Toxiproxy;
  let kafka: Server;
  let proxies: Record<ServerName, NetworkProxy>;

  before(async function () {
    try {
      toxiproxy = await startToxiproxy();
    } catch (error) {
      if (!(error instanceof MissingPrerequisite)) throw error;
      console.log(`      skipped: ${error.message}`);
      this.skip();
    }
    const behindProxy = await freePort();
    const kafkaProxy = await toxiproxy.proxy(`127.0.0.1:${behindProxy}`);
    kafka = await startKafka({ proxied: { port: behindProxy, address: kafkaProxy.address } });
    proxies = {
      Kafka: kafkaProxy,
      Elasticsearch: await toxiproxy.proxy(hostOf(process.env.ELASTICSEARCH_URL)),
      ClickHouse: await toxiproxy.proxy(hostOf(process.env.CLICKHOUSE_URL)),
    };
    afterFile(() => Promise.all([kafka.remove(), toxiproxy.remove()]));
  });
  const test = useWorkers(() => ({ brokers: kafka.address }));
  afterEach(() => Promise.all(SERVERS.map((server) => proxies[server].clear())));

  for (const server of SERVERS) {
    for (const [name, { toxics, breaks }] of Object.entries(FAULTS)) {
      it(`${server}, ${name}: every record is stored once`, async () => {
        const { topics, workers } = test;
        const history = histories(new Random(SEED), COUNT);
        const worker = await workers.start(STREAMS, {
          KAFKA_BROKERS: proxies.Kafka.address,
          ELASTICSEARCH_URL: `http://${proxies.Elasticsearch.address}`,
          CLICKHOUSE_URL: `http://${proxies.ClickHouse.address}`,
        });
        const isStore = server !== 'Kafka';
        for (let round = 0; round < ROUNDS; round++) {
          const before = await retries(worker);
          await proxies[server].apply(toxics);
          for (const stream of STREAMS) {
            const { records } = history[stream];
            const at = (part: number) => Math.floor((records.length * part) / ROUNDS);
            await topics.produce(stream, records.slice(at(round), at(round + 1)));
          }
          if (isStore && breaks) await isRetried(worker, before);
          else await pause(FAULT_MS);
          await proxies[server].clear();
          if (round < ROUNDS - 1) await pause(FAULT_MS);
        }
        await workers.drained(...STREAMS);
        await workers.expectState(history);
        expect(await workers.deadLetters()).to.deep.equal([]);
        if (isStore) expect(rebalances(worker), worker.output()).to.equal(0);
      });
    }
  }

  it(`the broker killed ${KILLS} times: every record is stored once`, async () => {
    const { topics, workers } = test;
    const history = histories(new Random(SEED), COUNT);
    let isOver = false;
    // Started again when it ends, as whatever runs it does.
    const supervised = (async () => {
      while (!isOver) await (await workers.start()).ended;
    })();
    for (let kill = 0; kill <= KILLS; kill++) {
      for (const stream of STREAMS) {
        const { records } = history[stream];
        const at = (part: number) => Math.floor((records.length * part) / (KILLS + 1));
        const some = records.slice(at(kill), at(kill + 1));
        // One try ends before the next begins: one given up might arrive after records that were sent later.
        const isProduced = () =>
          topics.produce(stream, some).then(
            () => true,
            () => false,
          );
        await until(isProduced, `some records of ${stream} are produced`, POLLING);
      }
      if (kill === KILLS) break;
      await kafka.kill();
      await kafka.start();
    }
    await topics.drained(...STREAMS);
    await workers.expectState(history);
    expect(await workers.deadLetters()).to.deep.equal([]);
    isOver = true;
    await workers.killAll();
    await supervised;
  });
});

const hostOf = (url = '') => new URL(url).host;

async function retries({ url }: ServerProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = metrics.matchAll(/^reachline_worker_store_retries_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Resolves when the worker gave a write up and is to try it again: the client of a store tries a few times by itself. */
const isRetried = (worker: ServerProcess, before: number) =>
  until(async () => (await retries(worker)) > before, 'a write failed', {
    pollMs: 100,
    timeoutMs: RETRIED_MS,
  });
