import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { RunningConsumer } from '../../../ingest/sources/kafka/consumer.js';
import { FETCH_LIMITS } from '../../../ingest/sources/kafka/limits.js';
import type { KafkaRecord } from '../../../ingest/sources/kafka/record.js';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { type TestTopics, testTopics } from './topics.js';

const STREAM = 'website-visits';
const COUNT = 60;
const BATCH_RECORDS = 10;

describe('the lag of a consumer', () => {
  let topics: TestTopics;
  let consumer: RunningConsumer | undefined;

  before(async () => {
    topics = await testTopics({ partitions: 1 });
  });
  after(() => consumer?.stop());

  it('equals the lag that the brokers report, after every batch and for later records', async () => {
    const { cluster, config } = topics;
    const [topic, group] = [topicOf(config, STREAM), `${config.group}-${STREAM}`];
    const records = Array.from({ length: COUNT }, (_, index) => ({ key: `k${index}`, value: '{}' }));
    await topics.produce(STREAM, records);
    let release: (() => void) | undefined;
    const running = await cluster.consume({
      topic,
      group,
      ...FETCH_LIMITS.records,
      maxBatchRecords: BATCH_RECORDS,
      async onBatch(batch) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        await batch.done(batch.records.at(-1) as KafkaRecord);
      },
      onOffsetLost: () => undefined,
    });
    consumer = running;
    const reportedLag = async () => {
      const lag = await running.lag();
      expect([...lag]).to.deep.equal([...(await cluster.lag(group, topic))]);
      return Number(lag.get(0));
    };
    const nextBatch = async () => {
      while (!release) await pause(10);
      const go = release;
      release = undefined;
      return go;
    };
    for (let behind = COUNT; behind > 0; behind -= BATCH_RECORDS) {
      const go = await nextBatch();
      expect(await reportedLag()).to.equal(behind);
      go();
    }
    await topics.drained(STREAM);
    expect(await reportedLag()).to.equal(0);

    await topics.produce(STREAM, records.slice(0, 1));
    const go = await nextBatch();
    expect(await reportedLag()).to.equal(1);
    go();
    await topics.drained(STREAM);
  });
});
