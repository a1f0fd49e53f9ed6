import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { HEADER, headerText } from '../../../ingest/worker/dead-letters.js';
import { Random, SEED } from '../../support/random.js';
import { actualContacts, expectSame } from './actual.js';
import { contactHistory } from './histories.js';
import type { TestTopics } from './topics.js';
import { type WorkerStores, type WorkerTest, workerStores, workerTest } from './worker-test.js';
import { histories, rebalances, STREAMS, type Workers } from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 8000);
const KILLS = Number(process.env.TEST_WORKER_KILLS ?? 3);

describe(`a worker on Kafka, Elasticsearch and ClickHouse (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(3_600_000);
  let topics: TestTopics;
  let stores: WorkerStores;
  let test: WorkerTest;
  let workers: Workers;

  before(async () => {
    stores = await workerStores();
  });
  after(() => stores?.remove());
  beforeEach(async () => {
    test = await workerTest(stores);
    ({ topics, workers } = test);
  });
  afterEach(async () => {
    await test?.close();
  });

  it('turns repeated, mixed and restated records into the expected state', async () => {
    const history = histories(new Random(SEED), COUNT);
    await workers.start();
    for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    await workers.drained(...STREAMS);
    await workers.expectState(history);
    expect(await workers.deadLetters()).to.deep.equal([]);
  });

  it(`loses and adds no record when it is killed ${KILLS} times`, async () => {
    const history = histories(new Random(SEED), COUNT);
    const random = new Random(SEED + 1);
    let worker = await workers.start();
    const producing = (async () => {
      for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    })();
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(500 + random.below(2000));
      await worker.kill();
      worker = await workers.start();
    }
    await producing;
    await workers.drained(...STREAMS);
    await workers.expectState(history);
  });

  it('dead-letters a rejected record byte for byte with the reason, and continues', async () => {
    const poison: [name: string, key: string | null, value: Buffer | string | null, code: string][] = [
      ['bad JSON', 'a', '{"organization_id":', 'invalid_json'],
      ['empty', 'b', '', 'invalid_json'],
      ['no value', 'c', null, 'no_value'],
      ['NUL', 'd', '{"organization_id":"org_a","contact_id":"x","first_name":"a\\u0000b"}', 'invalid_text'],
      ['bad UTF-8', 'e', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'invalid_utf8'],
      ['2 MB', 'f', `{"organization_id":"org_a","contact_id":"${'x'.repeat(2_000_000)}"}`, 'line_too_long'],
      ['wrong type', 'g', '{"organization_id":"org_a","contact_id":7}', 'invalid_type'],
      ['unknown field', 'h', '{"organization_id":"org_a","contact_id":"x","nope":1}', 'unknown_field'],
      [
        'impossible date',
        'i',
        '{"organization_id":"org_a","contact_id":"x","dob":"2026-02-30"}',
        'invalid_date',
      ],
      ['huge number', null, '{"organization_id":"org_a","contact_id":"x","age":1e300}', 'too_large'],
      ['organization', 'k', '{"organization_id":"nobody !","contact_id":"x"}', 'invalid_format'],
      ['an array', 'l', '[]', 'not_an_object'],
    ];
    const history = contactHistory(new Random(SEED), 1200);
    const { records, expected } = history;
    const mixed = records.flatMap((record, index) => {
      const bad = index % 100 === 50 ? poison[Math.floor(index / 100)] : undefined;
      return bad ? [record, { key: bad[1], value: bad[2], headers: { trace: bad[0] } }] : [record];
    });
    await workers.start(['contacts']);
    await topics.produce('contacts', mixed);
    await workers.drained('contacts');
    const letters = await topics.deadLetters('contacts');
    const actualLetters = letters.map(({ key, value, headers }) => [
      headerText(headers, 'trace'),
      key?.toString() ?? null,
      value?.toString('latin1') ?? null,
      headerText(headers, HEADER.code),
    ]);
    const expectedLetters = poison.map(([name, key, value, code]) => [
      name,
      key,
      value === null ? null : Buffer.from(value).toString('latin1'),
      code,
    ]);
    const byName = (left: unknown[], right: unknown[]) => String(left[0]).localeCompare(String(right[0]));
    expect(actualLetters.sort(byName).map((each) => [each[0], each[1], each[3]])).to.deep.equal(
      expectedLetters.sort(byName).map((each) => [each[0], each[1], each[3]]),
    );
    expect(actualLetters.map((each) => each[2])).to.deep.equal(expectedLetters.map((each) => each[2]));
    expectSame(await actualContacts(stores.indices.config, history.organizations), expected);
  });

  it('shares the partitions with workers that join and leave, and loses no record', async () => {
    const history = histories(new Random(SEED), COUNT);
    const first = await workers.start();
    const producing = (async () => {
      for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    })();
    const [second, third] = await Promise.all([workers.start(), workers.start()]);
    await producing;
    await Promise.all([second.stop(), third.stop()]);
    await workers.drained(...STREAMS);
    await workers.expectState(history);
    expect(rebalances(first), 'the others joined').to.be.greaterThan(0);
    expect(await workers.deadLetters()).to.deep.equal([]);
  });

  it('stops in time and leaves its groups, so that the next worker starts at once', async () => {
    const worker = await workers.start();
    const history = histories(new Random(SEED), COUNT);
    for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    expect(await worker.stop()).to.deep.equal({ code: 0, signal: null });
    await workers.start();
    await workers.drained(...STREAMS);
    await workers.expectState(history);
  });

  it('reads the records of transactions, and commits behind their markers', async () => {
    const history = contactHistory(new Random(SEED), 500);
    const { records, expected } = history;
    await workers.start(['contacts']);
    const kafka = new kafkajs.Kafka({
      brokers: topics.config.brokers,
      logLevel: kafkajs.logLevel.NOTHING,
    });
    const producer = kafka.producer({
      transactionalId: topics.config.group,
      maxInFlightRequests: 1,
      idempotent: true,
    });
    await producer.connect();
    for (const part of [records.slice(0, 250), records.slice(250)]) {
      const transaction = await producer.transaction();
      await transaction.send({ topic: topicOf(topics.config, 'contacts'), messages: part });
      await transaction.commit();
    }
    await producer.disconnect();
    await topics.visible('contacts', records.length);
    await workers.drained('contacts');
    expectSame(await actualContacts(stores.indices.config, history.organizations), expected);
  });

  it('reads no record of an open transaction, and reads them once it is committed', async () => {
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
    // The end that `drained` compares with stands still before the transaction, so it says that nothing is left to read.
    await workers.start(['contacts']);
    await workers.drained('contacts');
    expect(await actualContacts(stores.indices.config, history.organizations)).to.have.property('size', 0);
    await transaction.commit();
    await producer.disconnect();
    await topics.visible('contacts', records.length);
    await workers.drained('contacts');
    expectSame(await actualContacts(stores.indices.config, history.organizations), expected);
  });

  it('dead-letters thousands of rejected records with long headers', async () => {
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
