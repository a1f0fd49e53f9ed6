import type { KafkaRecord } from '../../../ingest/sources/kafka/record.js';
import type { StreamName } from '../../../ingest/streams/index.js';
import type { ClickHouseConfig, ElasticsearchConfig } from '../../../services/shared/config.js';
import { openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import type { Random } from '../../support/random.js';
import { type ServerProcess, startServer } from '../../support/server-process.js';
import { type TestDatabase, testDatabase } from '../clickhouse/support.js';
import { type TestIndices, testIndices } from '../elasticsearch/support.js';
import { serverEnvironment } from '../start-gateway.js';
import { actualContacts, actualDeliveries, actualVisits, expectSame, queriedVisits } from './actual.js';
import { contactHistory, deliveryHistory, type History, visitHistory } from './histories.js';
import { type TestTopics, testTopics } from './topics.js';

export const STREAMS = ['network-a-deliveries', 'website-visits', 'contacts'] as const;
export type Histories = Record<(typeof STREAMS)[number], History>;

/** Twice as many deliveries as visits, and five times as many as contacts. */
export const histories = (random: Random, count: number): Histories => ({
  'network-a-deliveries': deliveryHistory(random, count),
  'website-visits': visitHistory(random, count / 2),
  contacts: contactHistory(random, count / 5),
});

interface Servers {
  elasticsearch: ElasticsearchConfig;
  clickhouse: ClickHouseConfig;
}

/** Worker processes on the servers of a test. */
export class Workers {
  readonly #topics: TestTopics;
  readonly #servers: Servers;
  readonly #running = new Set<ServerProcess>();

  constructor(topics: TestTopics, servers: Servers) {
    this.#topics = topics;
    this.#servers = servers;
  }

  async start(streams: readonly StreamName[] = STREAMS): Promise<ServerProcess> {
    const args = ['worker', '--streams', streams.join(',')];
    const worker = await startServer({ args, environment: this.environment });
    this.#running.add(worker);
    return worker;
  }

  /** Variables of a worker process of these topics and servers. */
  get environment(): Record<string, string> {
    const { elasticsearch, clickhouse } = this.#servers;
    return {
      ...this.#topics.environment,
      REACHLINE_WORKER_PORT: '0',
      REACHLINE_LOG_LEVEL: 'warn',
      ...serverEnvironment(elasticsearch, clickhouse),
    };
  }

  /** Compares the stored records of each stream (visits in both stores) with the expected state, by key. */
  async expectState(history: Histories): Promise<void> {
    const { elasticsearch, clickhouse } = this.#servers;
    const { 'network-a-deliveries': deliveries, 'website-visits': visits, contacts } = history;
    expectSame(await actualDeliveries(clickhouse, deliveries.organizations), deliveries.expected);
    expectSame(await actualVisits(elasticsearch, visits.organizations), visits.expected);
    expectSame(await queriedVisits(clickhouse, visits.organizations), visits.expected);
    expectSame(await actualContacts(elasticsearch, contacts.organizations), contacts.expected);
  }

  async deadLetters(): Promise<KafkaRecord[]> {
    const letters = await Promise.all(STREAMS.map((stream) => this.#topics.deadLetters(stream)));
    return letters.flat();
  }

  /** Resolves when the workers have committed every record. Rejects if the last worker ends before. */
  async drained(...streams: StreamName[]): Promise<void> {
    const workers = [...this.#running];
    const allEnded = Promise.all(workers.map(({ ended }) => ended)).then((ends) => {
      const ended = workers.map((worker, index) => {
        const { code, signal } = ends[index] as Awaited<ServerProcess['ended']>;
        return `the worker ended with ${code ?? signal}:\n${worker.output().slice(-3000)}`;
      });
      throw new Error(ended.at(-1) ?? 'no worker was started');
    });
    await Promise.race([this.#topics.drained(...streams), allEnded]);
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#running].map((worker) => worker.kill()));
    this.#running.clear();
  }
}

export interface WorkerTest {
  indices: TestIndices;
  database: TestDatabase;
  topics: TestTopics;
  workers: Workers;
}

/** Stores for a suite, topics for each of its tests, and workers, which are killed after each test. May be read only within tests. */
export function useWorkers(): WorkerTest {
  const test = {} as WorkerTest;
  before(async () => {
    const [indices, database] = [testIndices(), testDatabase()];
    // Migrated before, so that the tests measure only the workers.
    await (await openElasticsearchStore(indices.config)).close();
    await (await openAnalyticsStore(database.config)).store.close();
    Object.assign(test, { indices, database });
  });
  beforeEach(async () => {
    test.topics = await testTopics();
    const servers = { elasticsearch: test.indices.config, clickhouse: test.database.config };
    test.workers = new Workers(test.topics, servers);
  });
  afterEach(() => test.workers?.killAll());
  return test;
}

/** Number of rebalances of a worker's group. */
export const rebalances = (worker: ServerProcess): number =>
  worker.output().split('The group is rebalancing').length - 1;
