import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { deadLetterTopicOf, topicOf } from '../../../ingest/worker/topics.js';
import { Random } from '../../advertising/random-records.js';
import { expectPoisonRefused, withPoison } from './poison.js';
import type { TestTopics } from './topics.js';
import { type WorkerTest, workerTest } from './worker-test.js';
import { histories, STREAMS, type Workers } from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 20_000);
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const WAIT_MS = 10_000;

describe(`dead letters that the broker does not take (TEST_SEED=${SEED})`, function () {
  this.timeout(1_800_000);
  let topics: TestTopics;
  let test: WorkerTest;
  let workers: Workers;

  before(async () => {
    test = await workerTest();
    ({ topics, workers } = test);
  });
  after(async () => {
    await test?.remove();
  });

  it('are not passed over: the worker ends, and the next one finds the records there', async () => {
    const random = new Random(SEED);
    const due = histories(random, COUNT);
    const sent = STREAMS.map((stream) => withPoison(random, due[stream].records));
    await limitDeadLetters(10);
    const refusing = await workers.start();
    for (const [index, stream] of STREAMS.entries()) await topics.produce(stream, sent[index] ?? []);
    const ended = await Promise.race([refusing.ended, pause(WAIT_MS, 'it runs')]);
    await refusing.kill();
    await limitDeadLetters(9_000_000);
    await workers.start();
    await topics.drained(...STREAMS);
    await workers.expectState(due);
    await expectPoisonRefused(topics, sent.flat().filter(({ headers }) => headers).length);
    expect(ended).to.deep.equal({ code: 1, signal: null });
  });

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
