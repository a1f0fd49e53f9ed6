import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { readRecordBatches } from '../../ingest/sources/kafka/record-batches.js';

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
  /** Offsets that compaction left, from the base; consecutive when absent. */
  offsets?: number[];
  /** Of what was compressed, to break it. */
  change?: (records: Buffer) => Buffer;
}

/** A record batch as producers make them. */
function batchOf(sent: readonly Sent[], options: BatchOptions = {}): Buffer {
  const { base = 0, codec = 0, attributes = 0, offsets = sent.map((_, index) => index), change } = options;
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
  header.writeInt32BE(sent.length, 57);
  return Buffer.concat([header, body]);
}

const read = async (bytes: Buffer, bounds = {}) =>
  (await readRecordBatches(bytes, bounds)).map(({ offset, key, value, unreadable }) => ({
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
    const [first, second] = await readRecordBatches(batchOf(sent, { base: 100, codec: 1, offsets: [3, 9] }));
    expect(first).to.deep.include({ offset: '103', timestamp: '1000', isControlRecord: false });
    expect(first?.headers.trace).to.deep.equal([Buffer.from('1'), Buffer.from('2')]);
    expect(Object.keys(first?.headers ?? {})).to.include('__proto__');
    expect(second).to.deep.include({ offset: '109', key: null, value: null, timestamp: '1010' });
    const [appended] = await readRecordBatches(batchOf(sent, { attributes: 0x08 }));
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
    const [only] = await readRecordBatches(batchOf([], { base: 10 }));
    expect(only).to.include({ offset: '14', isControlRecord: true });
  });

  it('that are too large end with one unreadable record, which holds the beginning of the first', async () => {
    const sent = [{ value: 'small' }, { key: 'large', value: 'x'.repeat(5000) }, { value: 'lost' }];
    const bytes = Buffer.concat([batchOf(sent, { codec: 1 }), batchOf([{ value: 'next' }], { base: 3 })]);
    expect(await read(bytes, { maxBatchBytes: 2000 })).to.deep.equal([
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
    const endless = batchOf([{ value: 'a' }]);
    endless.writeInt32BE(0x7fffffff, 57);
    expect(await read(endless)).to.have.lengthOf(2);
  });

  it('of one fetch are left for the next beyond its size, but never the first', async () => {
    const batches = [0, 1, 2].map((base) => batchOf([{ value: 'x'.repeat(5000) }], { base, codec: 1 }));
    const offsets = async (maxFetchBytes: number) =>
      (await read(Buffer.concat(batches), { maxFetchBytes })).map(({ offset }) => offset);
    expect(await offsets(1)).to.deep.equal(['0']);
    expect(await offsets(6000)).to.deep.equal(['0', '1']);
    expect(await offsets(1_000_000)).to.deep.equal(['0', '1', '2']);
  });
});
