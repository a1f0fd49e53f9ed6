import { expect } from 'chai';
import { lz4Codec, snappyCodec, zstdCodec } from '../../ingest/sources/compression.js';
import { compressLz4, compressSnappy, compressZstd } from '../support/compress.js';

const TEXT = Buffer.from(JSON.stringify(Array.from({ length: 2000 }, (_, index) => ({ id: index % 70 }))));

describe('codecs of record batches', () => {
  for (const [name, codec, compress] of [
    ['snappy', snappyCodec, compressSnappy],
    ['lz4', lz4Codec, compressLz4],
    ['zstd', zstdCodec, compressZstd],
  ] as const) {
    it(`${name} is read`, async () => {
      const compressed = await compress(TEXT);
      expect(compressed.length).to.be.lessThan(TEXT.length / 2);
      expect((await codec.decompress(compressed)).equals(TEXT)).to.equal(true);
    });
  }

  it('snappy is read in the frames that Java clients write', async () => {
    const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    const frames: Buffer[] = [header];
    for (let start = 0; start < TEXT.length; start += 10_000) {
      const chunk = compressSnappy(TEXT.subarray(start, start + 10_000));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(chunk.length);
      frames.push(length, chunk);
    }
    expect(frames.length).to.be.greaterThan(3);
    expect((await snappyCodec.decompress(Buffer.concat(frames))).equals(TEXT)).to.equal(true);
  });
});
