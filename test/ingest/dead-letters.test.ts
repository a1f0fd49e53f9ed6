import { expect } from 'chai';
import { deadLetter } from '../../ingest/records/outcome.js';
import { type OutgoingRecord, recordSender } from '../../ingest/sources/kafka/producer.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';
import { deadLetterSender, HEADER, headerText } from '../../ingest/worker/dead-letters.js';

const REASON = deadLetter('line_too_long', '', 'A record may have 1048576 bytes at most.');
const MEBIBYTE = 1024 * 1024;

/** The error that kafkajs throws when the broker rejects a request. */
class TooLarge extends Error {
  readonly type = 'MESSAGE_TOO_LARGE';
}

const sizeOf = ({ key, value, headers }: OutgoingRecord) =>
  Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '') + JSON.stringify(headers).length;

/** Sends rejected records to a topic that accepts requests of `limit` bytes. Resolves with the records in the topic. */
async function lettersOf(limit: number, ...records: Partial<KafkaRecord>[]): Promise<OutgoingRecord[]> {
  const taken: OutgoingRecord[] = [];
  const client = {
    send: async ({ messages }: { messages: OutgoingRecord[] }) => {
      if (messages.reduce((sum, each) => sum + sizeOf(each), 0) > limit) throw new TooLarge();
      taken.push(...messages);
      return [];
    },
  };
  const producer = recordSender(client as never, { retries: 0, firstMs: 0, maxMs: 0 });
  const rejected = records.map((record, index) => ({
    record: {
      partition: 1,
      offset: String(index),
      key: Buffer.from('key'),
      value: null,
      headers: {},
      timestamp: 0,
      ...record,
    },
    reason: REASON,
    stage: 'decode' as const,
  }));
  await deadLetterSender(producer)({ topic: 'contacts' }, rejected);
  return taken;
}

describe('Dead letters', () => {
  it('store a record byte for byte', async () => {
    const value = Buffer.alloc(2 * MEBIBYTE, 'x');
    const [letter] = await lettersOf(9 * MEBIBYTE, { value, headers: { trace: 'a' } });
    expect(letter?.value).to.equal(value);
    expect(letter?.headers).to.include({ trace: 'a', [HEADER.code]: 'line_too_long', [HEADER.offset]: '0' });
    expect(letter?.headers).not.to.have.property(HEADER.truncated);
  });

  it('store headers, offset, size and the first KiB of a record of 12 MiB', async () => {
    const value = Buffer.alloc(12 * MEBIBYTE, 'x');
    const [letter] = await lettersOf(9 * MEBIBYTE, { value, headers: { trace: 'a' }, offset: '17' });
    expect(letter?.value).to.deep.equal(value.subarray(0, 1024));
    expect(letter?.headers).to.include({
      trace: 'a',
      [HEADER.code]: 'line_too_long',
      [HEADER.partition]: '1',
      [HEADER.offset]: '17',
      [HEADER.truncated]: String(12 * MEBIBYTE),
    });
  });

  it('store topic, partition and offset of a record with 9 MiB of headers, or of key', async () => {
    const trace = 'x'.repeat(9 * MEBIBYTE);
    const letters = await lettersOf(9 * MEBIBYTE, { headers: { trace } }, { key: Buffer.from(trace) });
    for (const [index, { key, headers = {} }] of letters.entries()) {
      expect(key).to.have.length.at.most(1024);
      expect(headers).not.to.have.property('trace');
      expect(headerText(headers, HEADER.offset)).to.equal(String(index));
      expect(headers).to.have.property(HEADER.truncated);
    }
    expect(letters).to.have.lengthOf(2);
  });

  it('name the offset and the size of the first of the records that could not be read', async () => {
    const unreadable = { reason: 'too large', first: '7', last: '9', valueBytes: 5000 } as const;
    const [letter] = await lettersOf(9 * MEBIBYTE, { offset: '9', unreadable });
    expect(letter?.headers).to.include({ [HEADER.offset]: '7', [HEADER.truncated]: '5000' });
  });

  it('are truncated, each by itself, when the topic accepts less than it was created for', async () => {
    const sizes = [100, 400_000, 300_000, 600_000, 200];
    const letters = await lettersOf(500_000, ...sizes.map((size) => ({ value: Buffer.alloc(size, 'x') })));
    const kept = letters.map(({ value, headers = {} }) => [
      value?.length,
      headerText(headers, HEADER.truncated),
    ]);
    expect(kept).to.deep.equal([
      [100, ''],
      [400_000, ''],
      [300_000, ''],
      [1024, '600000'],
      [200, ''],
    ]);
  });

  it('reject with any other error of the producer', async () => {
    const outcome = await lettersOf(10, { value: Buffer.from('x') }).catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(TooLarge);
  });
});
