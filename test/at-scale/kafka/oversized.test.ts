import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { HEADER, headerText } from '../../../ingest/worker/dead-letters.js';
import { prepareOrganization, type ServerProcess, startServer } from '../../support/server-process.js';
import { tempFolder } from '../../support/temp-folder.js';
import { type TestTopics, testTopics } from './topics.js';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel, Partitioners } = kafkajs;

const ORGANIZATION = 'org_oversized';
const MEBIBYTE = 1024 * 1024;

describe('records that are much larger than their compressed batches', function () {
  this.timeout(180_000);
  const codecs = CompressionCodecs as Record<number, () => object>;
  const before = { ...codecs };
  let topics: TestTopics;
  let server: ServerProcess;

  beforeEach(async () => {
    codecs[CompressionTypes.GZIP] = () => ({
      compress: ({ buffer }: { buffer: Buffer }) => promisify(gzip)(buffer),
    });
    // All of one partition, so that each record comes behind those before it.
    topics = await testTopics({ partitions: 1 });
    const folder = tempFolder();
    const key = await prepareOrganization(folder, ORGANIZATION);
    const environment = { ELASTICSEARCH_URL: '', CLICKHOUSE_URL: '', ...topics.environment };
    server = await startServer({ dataDir: folder, key, environment });
  });
  afterEach(async () => {
    Object.assign(codecs, before);
    await server?.stop();
  });

  it('become dead letters with their offsets, and the records behind them are stored', async () => {
    const kafka = new Kafka({ brokers: topics.config.brokers, logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    const contact = (contact_id: string) => ({
      key: contact_id,
      value: JSON.stringify({ organization_id: ORGANIZATION, contact_id, city: 'Rome' }),
    });
    await producer.connect();
    try {
      for (const messages of [
        [contact('first')],
        [{ key: 'large', value: Buffer.alloc(12 * MEBIBYTE, 'x'), headers: { trace: 'a' } }],
        [contact('second'), { key: 'larger', value: Buffer.alloc(140 * MEBIBYTE, 'y') }, contact('lost')],
        [contact('third')],
      ]) {
        await producer.send({
          topic: topicOf(topics.config, 'contacts'),
          messages,
          acks: -1,
          compression: CompressionTypes.GZIP,
        });
      }
    } finally {
      await producer.disconnect();
    }
    await topics.drained('contacts');
    for (const contact_id of ['first', 'second', 'third']) {
      const answer = await server.call('/api/contacts/get', { organization_id: ORGANIZATION, contact_id });
      expect(answer.status, contact_id).to.equal(200);
    }
    const letters = await topics.deadLetters('contacts');
    const said = letters.map(({ key, value, headers }) => [
      String(key),
      value?.toString(),
      ...[HEADER.code, HEADER.offset, HEADER.truncated, 'trace'].map((name) => headerText(headers, name)),
    ]);
    expect(said).to.deep.equal([
      ['large', 'x'.repeat(1024), 'line_too_long', '1', String(12 * MEBIBYTE), 'a'],
      ['larger', 'y'.repeat(1024), 'batch_too_large', '3', String(140 * MEBIBYTE), ''],
    ]);
    expect(headerText(letters[1]?.headers ?? {}, HEADER.detail)).to.contain('offsets 3 to 4');
    expect(server.output()).not.to.contain('the worker ended');
  });
});
