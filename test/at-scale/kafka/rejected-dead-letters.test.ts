import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { deadLetterTopicOf, topicOf } from '../../../ingest/sources/kafka/topics.js';
import { Random, SEED } from '../../support/random.js';
import type { ServerProcess } from '../../support/server-process.js';
import { until } from '../../support/until.js';
import { expectPoisonRejected, withPoison } from './poison.js';
import { POLLING, type TestTopics } from './topics.js';
import { type WorkerStores, type WorkerTest, workerStores, workerTest } from './worker-test.js';
import { histories, STREAMS, type Workers } from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 8000);

describe(`dead letters that the broker rejects (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(1_800_000);
  let topics: TestTopics;
  let stores: WorkerStores;
  let test: WorkerTest;
  let workers: Workers;

  before(async () => {
    stores = await workerStores();
    test = await workerTest(stores);
    ({ topics, workers } = test);
  });
  after(async () => {
    await test?.close();
    await stores?.remove();
  });

  it('are not skipped: the streams restart, and continue once the broker accepts them', async () => {
    const random = new Random(SEED);
    const history = histories(random, COUNT);
    const sent = STREAMS.map((stream) => withPoison(random, history[stream].records));
    await limitDeadLetters(10);
    const worker = await workers.start();
    for (const [index, stream] of STREAMS.entries()) await topics.produce(stream, sent[index] ?? []);
    await until(
      async () => (await failingOf(worker)).length === STREAMS.length,
      'every stream fails',
      POLLING,
    );
    for (const stream of STREAMS) expect(await topics.behind(stream), stream).to.be.greaterThan(0);
    expect(await restartsOf(worker)).to.be.greaterThan(0);
    await limitDeadLetters(9_000_000);
    await workers.drained(...STREAMS);
    await workers.expectState(history);
    await expectPoisonRejected(topics, sent.flat().filter(({ headers }) => headers).length);
    await until(async () => (await failingOf(worker)).length === 0, 'no stream fails', POLLING);
  });

  /** Streams that the worker says wait to be started again. */
  async function failingOf({ url }: ServerProcess): Promise<string[]> {
    const response = await fetch(`${url}/readyz`);
    const { ready, failing_streams } = (await response.json()) as {
      ready: boolean;
      failing_streams: string[];
    };
    if (failing_streams.length > 0)
      expect({ ready, status: response.status }).to.deep.equal({ ready: false, status: 503 });
    return failing_streams;
  }

  async function restartsOf({ url }: ServerProcess): Promise<number> {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const counts = metrics.matchAll(/^reachline_worker_stream_restarts_total\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Bytes that a batch of dead letters may have. */
  async function limitDeadLetters(bytes: number): Promise<void> {
    const { config } = topics;
    const kafka = new kafkajs.Kafka({ brokers: config.brokers, logLevel: kafkajs.logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.alterConfigs({
      validateOnly: false,
      resources: STREAMS.map((stream) => ({
        type: kafkajs.ConfigResourceTypes.TOPIC,
        name: deadLetterTopicOf(topicOf(config, stream)),
        configEntries: [{ name: 'max.message.bytes', value: String(bytes) }],
      })),
    });
    await admin.disconnect();
  }
});
