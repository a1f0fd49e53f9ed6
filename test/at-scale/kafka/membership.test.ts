import { expect } from 'chai';
import type { Batch, RunningConsumer } from '../../../ingest/sources/kafka/consumer.js';
import { FETCH_LIMITS } from '../../../ingest/sources/kafka/limits.js';
import type { KafkaRecord } from '../../../ingest/sources/kafka/record.js';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { until } from '../../support/until.js';
import { type TestTopics, testTopics } from './topics.js';

const STREAM = 'contacts';
const RECORDS = 40;
const BATCH_RECORDS = 10;

describe('a member of a consumer group', function () {
  this.timeout(120_000);
  let topics: TestTopics;
  const running: RunningConsumer[] = [];

  beforeEach(async () => {
    topics = await testTopics({ partitions: 2 });
    await topics.produce(
      STREAM,
      Array.from({ length: RECORDS }, (_, index) => ({ key: `k${index}`, value: '{}' })),
    );
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((consumer) => consumer.stop()));
    await topics?.close();
  });

  async function consume(onBatch: (batch: Batch) => Promise<void>): Promise<void> {
    const { cluster, config } = topics;
    running.push(
      await cluster.consume({
        topic: topicOf(config, STREAM),
        group: `${config.group}-${STREAM}`,
        ...FETCH_LIMITS.search,
        maxBatchRecords: BATCH_RECORDS,
        onBatch,
        onOffsetLost: () => undefined,
      }),
    );
  }
  const commit = (batch: Batch) => batch.commit(batch.records.at(-1) as KafkaRecord);
  const firstOf = ({ partition, records }: Batch) => `${partition}/${records[0]?.offset}`;

  it('receives an uncommitted batch again, and no later one before it', async () => {
    const given: string[] = [];
    const skipped = new Set<number>();
    await consume(async (batch) => {
      given.push(firstOf(batch));
      if (skipped.has(batch.partition)) await commit(batch);
      else skipped.add(batch.partition);
    });
    await topics.drained(STREAM);
    for (const partition of skipped) {
      const offsets = given
        .filter((each) => each.startsWith(`${partition}/`))
        .map((each) => each.split('/')[1]);
      expect(offsets.slice(0, 2), `partition ${partition}`).to.deep.equal(['0', '0']);
      expect(offsets.slice(1)).to.deep.equal([...new Set(offsets)]);
    }
  });

  it('commits the batch it is writing when another member joins, so that no batch is written twice', async () => {
    const given: string[] = [];
    let hasJoined = false;
    const untilJoined = async (batch: Batch) => {
      given.push(firstOf(batch));
      if (!hasJoined) await batch.withHeartbeats(until(() => batch.isRebalancing(), 'the other joins'));
      hasJoined = true;
      if (batch.isAssigned()) await commit(batch);
    };
    await consume(untilJoined);
    await until(() => given.length === 2, 'both partitions have a batch');
    await consume(untilJoined);
    await topics.drained(STREAM);
    expect(given).to.deep.equal([...new Set(given)]);
  });
});
