import { expect } from 'chai';
import fc from 'fast-check';
import type { RawRecord } from '../../ingest/records/raw-record.js';
import { lines } from '../../ingest/sources/lines.js';

async function* chunksOf(bytes: Buffer, cuts: number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (const cut of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
}

async function read(bytes: Buffer | string, cuts: number[] = [], limit?: number): Promise<RawRecord[]> {
  const records: RawRecord[] = [];
  for await (const some of lines(chunksOf(Buffer.from(bytes), cuts), limit)) records.push(...some);
  return records;
}

const texts = (records: RawRecord[]) => records.map(({ line, bytes }) => [line, bytes.toString()]);

describe('Lines of a text', () => {
  it('are split at line feeds, a last one without included', async () => {
    expect(texts(await read('a\nb\nc'))).to.deep.equal([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    expect(texts(await read('a\nb\n'))).to.deep.equal([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  it('keep their number when blank lines are left out, whatever white space these have', async () => {
    expect(texts(await read('\n \t\r\na\r\n\r\nb'))).to.deep.equal([
      [3, 'a\r'],
      [5, 'b'],
    ]);
  });

  it('make no buffer of a blank line', async () => {
    const chunk = Buffer.from(`${'\n \r\n'.repeat(1000)}a\n`);
    let buffers = 0;
    chunk.subarray = (start, end) => {
      buffers++;
      return Buffer.prototype.subarray.call(chunk, start, end);
    };
    const records: RawRecord[] = [];
    async function* chunks() {
      yield chunk;
    }
    for await (const some of lines(chunks())) records.push(...some);
    expect(texts(records)).to.deep.equal([[2001, 'a']]);
    expect(buffers).to.equal(1);
  });

  it('over the limit pass in pieces also where they are blank, wherever the chunks are cut', async () => {
    const text = `${' '.repeat(50)}\n \na`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(100)), async (cuts) => {
        const records = await read(text, cuts, 20);
        expect(new Set(records.map(({ line }) => line))).to.deep.equal(new Set([1, 3]));
      }),
    );
  });

  it('lose a byte order mark at the beginning, and keep the received bytes as well', async () => {
    const [first, second] = await read('\ufeff{"a":1}\n{"b":"\ufeff"}');
    expect(first?.bytes.toString()).to.equal('{"a":1}');
    expect(first?.untouched?.toString()).to.equal('\ufeff{"a":1}');
    expect(second?.untouched).to.equal(undefined);
  });

  it('are the same wherever the chunks are cut', async () => {
    const text = '\ufeffÅ long first line\r\n\n{"name":"黒澤 明"}\n🙂\n\nlast';
    const whole = texts(await read(text));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(100)), async (cuts) => {
        expect(texts(await read(text, cuts))).to.deep.equal(whole);
      }),
    );
  });

  it('over the limit pass in pieces and leave the lines around them whole, wherever the chunks are cut', async () => {
    const long = 'x'.repeat(50);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(100)), async (cuts) => {
        const records = await read(`before\n${long}\nafter`, cuts, 20);
        const pieces = records.filter(({ overlong }) => overlong);
        expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()).to.equal(long);
        expect(pieces.map(({ overlong }) => overlong).indexOf('last')).to.equal(pieces.length - 1);
        expect(new Set(pieces.map(({ line }) => line))).to.deep.equal(new Set([2]));
        expect(texts(records.filter(({ overlong }) => !overlong))).to.deep.equal([
          [1, 'before'],
          [3, 'after'],
        ]);
      }),
    );
  });

  it('of exactly the limit are whole, with a carriage return or without', async () => {
    const full = 'y'.repeat(20);
    for (const cuts of [[], [7], [20], [21]]) {
      const records = await read(`${full}\r\n${full}\n${full}z\n`, cuts, 20);
      expect(records.map(({ overlong }) => overlong)).to.deep.equal([undefined, undefined, 'last']);
    }
  });
});
