import { expect } from 'chai';
import type { OutgoingRecord } from '../../../ingest/sources/kafka/producer.js';
import type { KafkaRecord } from '../../../ingest/sources/kafka/record.js';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { HEADER, headerText } from '../../../ingest/worker/dead-letters.js';
import type { Random } from '../../support/random.js';
import type { TestTopics } from './topics.js';
import { STREAMS } from './workers.js';

/** Marks records that no stream accepts. */
const POISON = 'poison';

const KINDS: Record<string, (good: OutgoingRecord) => Buffer | string | null> = {
  'bad JSON': ({ value }) => String(value).slice(0, -1),
  empty: () => '',
  'no value': () => null,
  'bad UTF-8': () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
  NUL: ({ value }) => String(value).replace('org_', 'org_\\u0000'),
  'an array': ({ value }) => `[${value}]`,
  'unknown field': ({ value }) => `{"nope":1,${String(value).slice(1)}`,
  organization: ({ value }) => String(value).replace('org_', 'nobody !'),
};

/** Inserts a bad record after every few good records; if possible with the key of the good record, so that both are in one partition. */
export function withPoison(
  random: Random,
  records: readonly OutgoingRecord[],
  oneIn = 100,
): OutgoingRecord[] {
  return records.flatMap((good, index) => {
    if (index % oneIn !== oneIn - 1) return [good];
    const [kind, spoil] = random.pick(Object.entries(KINDS));
    const value = spoil(good);
    // With the key of a contact, a record without a value is a deletion.
    const key = value === null ? `${good.key}/${POISON}` : good.key;
    return [good, { key, value, headers: { [POISON]: kind } }];
  });
}

/** Compares the dead letters with the bad records, by their offsets in the topics. A letter may occur twice. */
export async function expectPoisonRejected(topics: TestTopics, sent: number): Promise<void> {
  let found = 0;
  for (const stream of STREAMS) {
    const topic = topicOf(topics.config, stream);
    const expected = new Map<string, string>();
    await topics.cluster.readAll(topic, async (records) => {
      for (const record of records) {
        if (headerText(record.headers, POISON) !== '')
          expected.set(`${topic}/${record.partition}/${record.offset}`, content(record));
      }
      return true;
    });
    const letters = await topics.deadLetters(stream);
    const actual = new Map(letters.map((letter) => [source(letter), content(letter)]));
    expect([...actual].sort()).to.deep.equal([...expected].sort());
    found += expected.size;
  }
  expect(found, 'the topics hold the poison once').to.equal(sent);
}

const source = ({ headers }: KafkaRecord) =>
  [HEADER.topic, HEADER.partition, HEADER.offset].map((name) => headerText(headers, name)).join('/');

const content = ({ key, value, headers }: KafkaRecord) =>
  JSON.stringify([headerText(headers, POISON), key?.toString(), value?.toString('latin1') ?? null]);
