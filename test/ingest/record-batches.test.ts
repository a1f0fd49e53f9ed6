import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { crc32c } from '../../ingest/sources/kafka/kafkajs/crc32c.js';
import { type FetchBudget, readRecordBatches } from '../../ingest/sources/kafka/kafkajs/record-batches.js';
import { RECORD_OVERHEAD_BYTES } from '../../ingest/sources/kafka/limits.js';

interface Sent {
  key?: string;
  value: string | null;
  headers?: [string, string][];
}

const varint = (value: number) => {
  const bytes: number[] = [];
  let left = value >= 0 ? value * 2 : -value * 2 - 1;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
};
const sized = (text: string | null | undefined) =>
  text === null || text === undefined
    ? varint(-1)
    : Buffer.concat([varint(Buffer.byteLength(text)), Buffer.from(text)]);

interface BatchOptions {
  base?: number;
  codec?: number;
  attributes?: number;
  /** Offsets that compaction left, relative to the base; consecutive if absent. */
  offsets?: number[];
  /** The count that the header declares. */
  count?: number;
  /** Changes the compressed records, to break them. */
  change?: (records: Buffer) => Buffer;
}

/** A record batch as producers make them. */
function batchOf(sent: readonly Sent[], options: BatchOptions = {}): Buffer {
  const { base = 0, codec = 0, attributes = 0, offsets = sent.map((_, index) => index), change } = options;
  const { count = sent.length } = options;
  const plain = sent.map(({ key, value, headers = [] }, index) => {
    const body = Buffer.concat([
      Buffer.from([0]),
      varint(index * 10),
      varint(offsets[index] as number),
      sized(key),
      sized(value),
      varint(headers.length),
      ...headers.flatMap(([name, text]) => [sized(name), sized(text)]),
    ]);
    return Buffer.concat([varint(body.length), body]);
  });
  const records = Buffer.concat(plain);
  const compressed = codec === 1 ? gzipSync(records) : records;
  const body = change ? change(compressed) : compressed;
  const header = Buffer.alloc(61);
  header.writeBigInt64BE(BigInt(base), 0);
  header.writeInt32BE(49 + body.length, 8);
  header.writeInt8(2, 16);
  header.writeInt16BE(codec | attributes, 21);
  header.writeInt32BE(offsets.at(-1) ?? 4, 23);
  header.writeBigInt64BE(1000n, 27);
  header.writeBigInt64BE(2000n, 35);
  header.writeBigInt64BE(77n, 43);
  header.writeInt32BE(count, 57);
  const batch = Buffer.concat([header, body]);
  batch.writeInt32BE(crc32c(batch.subarray(21)), 17);
  return batch;
}

const GENEROUS = 1_000_000;
const budgetOf = (maxBytes: number): FetchBudget => ({ maxBytes, heldBytes: 0 });
const readAll = (bytes: Buffer) => readRecordBatches(bytes, budgetOf(GENEROUS));

const read = async (bytes: Buffer, maxBatchBytes = GENEROUS, budget = budgetOf(GENEROUS)) =>
  (await readRecordBatches(bytes, budget, maxBatchBytes)).map(({ offset, key, value, unreadable }) => ({
    offset,
    key: key?.toString() ?? null,
    value: value?.toString() ?? null,
    ...(unreadable ? { unreadable } : {}),
  }));

describe('Record batches', () => {
  it('are read with keys, headers, offsets that compaction left, and both kinds of timestamps', async () => {
    const sent: Sent[] = [
      {
        key: 'a',
        value: 'one',
        headers: [
          ['trace', '1'],
          ['trace', '2'],
          ['__proto__', 'x'],
        ],
      },
      { value: null },
    ];
    const [first, second] = await readAll(batchOf(sent, { base: 100, codec: 1, offsets: [3, 9] }));
    expect(first).to.deep.include({ offset: '103', timestamp: '1000', isControlRecord: false });
    expect(first?.headers.trace).to.deep.equal([Buffer.from('1'), Buffer.from('2')]);
    expect(Object.keys(first?.headers ?? {})).to.include('__proto__');
    expect(second).to.deep.include({ offset: '109', key: null, value: null, timestamp: '1010' });
    const [appended] = await readAll(batchOf(sent, { attributes: 0x08 }));
    expect(appended?.timestamp).to.equal('2000');
  });

  it('that are cut off by the end of a fetch are left for the next', async () => {
    const bytes = Buffer.concat([batchOf([{ value: 'a' }]), batchOf([{ value: 'b' }], { base: 1 })]);
    for (let end = 0; end < bytes.length; end += 7) {
      expect(await read(bytes.subarray(0, end))).to.have.length.at.most(1);
    }
    expect(await read(bytes)).to.have.lengthOf(2);
  });

  it('advance the offset although compaction left no record of them', async () => {
    const [only] = await readAll(batchOf([], { base: 10 }));
    expect(only).to.include({ offset: '14', isControlRecord: true });
  });

  it('that are too large end with one unreadable record, which holds the beginning of the first', async () => {
    const sent = [{ value: 'small' }, { key: 'large', value: 'x'.repeat(5000) }, { value: 'lost' }];
    const bytes = Buffer.concat([batchOf(sent, { codec: 1 }), batchOf([{ value: 'next' }], { base: 3 })]);
    expect(await read(bytes, 2000)).to.deep.equal([
      { offset: '0', key: null, value: 'small' },
      {
        offset: '2',
        key: 'large',
        value: 'x'.repeat(1024),
        unreadable: { reason: 'too large', first: '1', last: '2', valueBytes: 5000 },
      },
      { offset: '3', key: null, value: 'next' },
    ]);
  });

  it('that are corrupt end with one unreadable record, whatever their codec', async () => {
    const half = (records: Buffer) => records.subarray(0, records.length / 2);
    for (const codec of [0, 1, 2, 3, 4, 7]) {
      const broken = batchOf([{ value: 'a'.repeat(100) }], { codec, change: half });
      const records = await read(Buffer.concat([broken, batchOf([{ value: 'next' }], { base: 1 })]));
      expect(records.map(({ offset }) => offset)).to.deep.equal(['0', '1']);
      expect(records[0]?.unreadable).to.include({ reason: 'corrupt', first: '0', last: '0' });
      expect(records[1]).to.include({ value: 'next' });
    }
  });

  it('with a wrong count of records still end', async () => {
    expect(await read(batchOf([{ value: 'a' }], { count: 0x7fffffff }))).to.have.lengthOf(2);
  });

  it('whose checksum is wrong are one unreadable record each, whichever bit was flipped', async () => {
    const sent = [{ key: 'k', value: 'impressions: 1000' }, { value: 'b' }];
    const intact = batchOf(sent, { base: 5 });
    const next = batchOf([{ value: 'next' }], { base: 7 });
    const expected = await read(Buffer.concat([intact, next]));
    // Starts after the length and the magic number; without them there is no batch.
    for (let bit = 17 * 8; bit < intact.length * 8; bit++) {
      const flipped = Buffer.from(intact);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      const [broken, ...others] = await readAll(Buffer.concat([flipped, next]));
      expect(broken?.unreadable, `bit ${bit}`).to.include({ reason: 'corrupt', first: '5' });
      expect(Number(broken?.offset)).to.be.within(5, 6);
      expect(broken).to.include({ value: null, isControlRecord: false });
      expect(others.map(({ value }) => String(value))).to.deep.equal(['next']);
    }
    expect(expected.map(({ value }) => value)).to.deep.equal(['impressions: 1000', 'b', 'next']);
  });

  it('have the CRC-32C of RFC 3720 as their checksum', () => {
    expect(crc32c(Buffer.alloc(32)) >>> 0).to.equal(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff)) >>> 0).to.equal(0x62a8ab43);
  });

  it('of a fetch are left for the next above its budget, with their objects, but never the first', async () => {
    const batches = [0, 1, 2].map((base) => batchOf([{ value: 'x'.repeat(5000) }], { base, codec: 1 }));
    const offsets = async (maxBytes: number) =>
      (await read(Buffer.concat(batches), GENEROUS, budgetOf(maxBytes))).map(({ offset }) => offset);
    expect(await offsets(1)).to.deep.equal(['0']);
    expect(await offsets(10_000)).to.deep.equal(['0']);
    expect(await offsets(11_000)).to.deep.equal(['0', '1']);
    expect(await offsets(GENEROUS)).to.deep.equal(['0', '1', '2']);
  });

  it('of a hundred partitions of a fetch take no more memory than its budget, and a count of small records is bounded too', async () => {
    const partition = batchOf(Array.from({ length: 50 }, () => ({ value: 'x' })));
    const budget = budgetOf(100_000);
    let records = 0;
    for (let index = 0; index < 100; index++) records += (await readRecordBatches(partition, budget)).length;
    expect(records).to.be.within(1, 100_000 / RECORD_OVERHEAD_BYTES);
    expect(budget.heldBytes).to.be.at.most(100_000);
  });
});
