import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { Publisher } from '../../../ingest/publisher.js';
import { BACKGROUND_RETRY, KafkaClient } from '../../../ingest/sources/kafka/client.js';
import { readTopic } from '../../../ingest/sources/kafka/reader.js';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { STREAMS } from '../../../ingest/streams/index.js';
import type { IngestStores } from '../../../ingest/streams/stream.js';
import { createLogger } from '../../../services/shared/logger.js';
import { PartialWriteError } from '../../../services/shared/store-errors.js';
import { accepted } from '../../support/accepted.js';
import { afterFile } from '../../support/opened.js';
import { testTopics } from './topics.js';

const { Kafka, logLevel } = kafkajs;

const admin = new Kafka({
  brokers: (process.env.KAFKA_BROKERS ?? '').split(','),
  logLevel: logLevel.NOTHING,
}).admin();

function useAdmin(): void {
  before(() => admin.connect());
  after(() => admin.disconnect());
}

describe('A topic of the broker’s default size', function () {
  this.timeout(60_000);
  useAdmin();

  it('takes a request of several MiB, but for a record that is too large by itself', async () => {
    const topics = await testTopics({ partitions: 1 });
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: 2,
          name: topicOf(topics.config, 'contacts'),
          configEntries: [{ name: 'max.message.bytes', value: String(100 * 1024) }],
        },
      ],
    });
    const publisher = new Publisher(topics.config, createLogger('silent'));
    afterFile(() => publisher.close());
    // Characters that compression cannot shorten.
    const text = (bytes: number) =>
      Array.from({ length: bytes }, (_, index) =>
        String.fromCharCode(97 + ((index * index * 31 + index * 7) % 25)),
      ).join('');
    const contact = (id: string, bytes: number) => ({
      organization_id: 'o',
      contact_id: id,
      city: text(bytes),
    });
    const records = Array.from({ length: 40 }, (_, index) =>
      contact(`c${index}`, index === 17 ? 200_000 : 10_000),
    );
    const outcome = await publisher
      .toKafka(STREAMS.contacts)
      .write({} as IngestStores, accepted(records, 0))
      .catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(PartialWriteError);
    const { rejected } = outcome as PartialWriteError;
    expect([...rejected].map(([index, { code }]) => [index, code])).to.deep.equal([[17, 'record_too_large']]);
    const keys = new Set<string>();
    await topics.cluster.readAll(topicOf(topics.config, 'contacts'), async (found) => {
      for (const { key } of found) keys.add(String(key));
      return true;
    });
    expect(keys.size).to.equal(39);
  });
});

describe('A reader of a topic', function () {
  this.timeout(60_000);
  useAdmin();

  it('ends where retention deletes what is left to read', async () => {
    const topics = await testTopics({ partitions: 1 });
    const topic = topicOf(topics.config, 'website-visits');
    await topics.produce('website-visits', [{ key: 'k', value: '{}' }]);
    const cluster = topics.cluster;
    // Makes the client learn about the topic.
    await admin.fetchTopicOffsets(topic);
    const found: unknown[] = [];
    let isDeleted = false;
    // The offsets are read before the records are deleted, as if retention ran in between.
    const late = {
      committed: cluster.committed.bind(cluster),
      deleteGroup: cluster.deleteGroup.bind(cluster),
      async offsets(name: string) {
        const offsets = await cluster.offsets(name);
        if (!isDeleted)
          await admin.deleteTopicRecords({ topic: name, partitions: [{ partition: 0, offset: '1' }] });
        isDeleted = true;
        return offsets;
      },
    };
    const client = new KafkaClient(topics.config, createLogger('silent'), BACKGROUND_RETRY);
    afterFile(() => client.close());
    await readTopic(client, late, topic, async (records) => {
      found.push(...records);
      return true;
    });
    expect(found).to.deep.equal([]);
  });
});
