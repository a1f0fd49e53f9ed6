import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { Random, runs, SEED } from '../../support/random.js';
import { actualContacts, expectSame } from './actual.js';
import { contactHistory } from './histories.js';
import { histories, rebalances, STREAMS, useWorkers } from './workers.js';

const COUNT = runs(8000);

describe(`a worker on Kafka, Elasticsearch and ClickHouse (TEST_SEED=${SEED})`, function () {
  this.timeout(3_600_000);
  const test = useWorkers();

  it('turns repeated, mixed and restated records into the expected state, while other workers join and leave', async () => {
    const { topics, workers } = test;
    const history = histories(new Random(SEED), COUNT);
    const first = await workers.start();
    const producing = (async () => {
      for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    })();
    const [second, third] = await Promise.all([workers.start(), workers.start()]);
    await producing;
    for (const ended of await Promise.all([second.stop(), third.stop()]))
      expect(ended).to.deep.equal({ code: 0, signal: null });
    await workers.drained(...STREAMS);
    await workers.expectState(history);
    expect(rebalances(first), 'the others joined').to.be.greaterThan(0);
    expect(await workers.deadLetters()).to.deep.equal([]);
  });

  it('reads no record of an open transaction, reads them once it is committed, and commits behind its marker', async () => {
    const { topics, workers } = test;
    const history = contactHistory(new Random(SEED), 100);
    const { records, expected } = history;
    const kafka = new kafkajs.Kafka({ brokers: topics.config.brokers, logLevel: kafkajs.logLevel.NOTHING });
    const producer = kafka.producer({
      transactionalId: topics.config.group,
      maxInFlightRequests: 1,
      idempotent: true,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic: topicOf(topics.config, 'contacts'), messages: records });
    // The end that `drained` compares with is before the transaction, so it would report that nothing is left to read.
    await workers.start(['contacts']);
    await workers.drained('contacts');
    expect(await actualContacts(test.indices.config, history.organizations)).to.have.property('size', 0);
    await transaction.commit();
    await producer.disconnect();
    await topics.visible('contacts', records.length);
    await workers.drained('contacts');
    expectSame(await actualContacts(test.indices.config, history.organizations), expected);
  });

  it('dead-letters thousands of rejected records with long headers', async () => {
    const { topics, workers } = test;
    await workers.start(['contacts']);
    const headers = { trace: 'x'.repeat(600) };
    const rejected = Array.from({ length: 10_000 }, (_, index) => ({
      key: 'k',
      value: `{${index}`,
      headers,
    }));
    await topics.produce('contacts', rejected);
    await workers.drained('contacts');
    const letters = await topics.deadLetters('contacts');
    expect(letters.map(({ value }) => String(value))).to.deep.equal(rejected.map(({ value }) => value));
  });
});
