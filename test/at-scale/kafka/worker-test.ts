import { type TestDatabase, testDatabase } from '../clickhouse/support.js';
import { type TestIndices, testIndices } from '../elasticsearch/support.js';
import { type TestTopics, type TopicOptions, testTopics } from './topics.js';
import { Workers } from './workers.js';

/** Workers, and topics, indices and a database that no other test has. */
export interface WorkerTest {
  topics: TestTopics;
  indices: TestIndices;
  database: TestDatabase;
  workers: Workers;
  /** Kills the workers, and removes what is theirs. */
  remove(): Promise<void>;
}

export async function workerTest(options: TopicOptions = {}): Promise<WorkerTest> {
  const topics = await testTopics(options);
  const indices = testIndices();
  const database = testDatabase();
  const workers = await Workers.prepare(topics, {
    elasticsearch: indices.config,
    clickhouse: database.config,
  });
  return {
    topics,
    indices,
    database,
    workers,
    async remove() {
      await workers.killAll();
      await topics.close();
      await indices.remove();
      await database.drop();
    },
  };
}
