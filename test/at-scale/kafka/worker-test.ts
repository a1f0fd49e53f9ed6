import { openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { type TestDatabase, testDatabase } from '../clickhouse/support.js';
import { type TestIndices, testIndices } from '../elasticsearch/support.js';
import { type TestTopics, type TopicOptions, testTopics } from './topics.js';
import { Workers } from './workers.js';

/** Indices and a database that no other file has. */
export interface WorkerStores {
  indices: TestIndices;
  database: TestDatabase;
  remove(): Promise<void>;
}

/** For all tests of a file: their histories have organizations of their own, and opening takes longer than most tests. */
export async function workerStores(): Promise<WorkerStores> {
  const indices = testIndices();
  const database = testDatabase();
  // Migrated before, so that the tests measure the workers alone.
  await (await openElasticsearchStore(indices.config)).close();
  await (await openAnalyticsStore(database.config)).store.close();
  return {
    indices,
    database,
    async remove() {
      await indices.remove();
      await database.drop();
    },
  };
}

/** Workers, and topics that no other test has. */
export interface WorkerTest {
  topics: TestTopics;
  workers: Workers;
  /** Kills the workers. */
  close(): Promise<void>;
}

export async function workerTest(
  { indices, database }: WorkerStores,
  options?: TopicOptions,
): Promise<WorkerTest> {
  const topics = await testTopics(options);
  const workers = new Workers(topics, { elasticsearch: indices.config, clickhouse: database.config });
  return {
    topics,
    workers,
    async close() {
      await workers.killAll();
      await topics.close();
    },
  };
}
