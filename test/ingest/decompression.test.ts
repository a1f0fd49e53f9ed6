import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { DECOMPRESSORS, type Decompress } from '../../ingest/sources/kafka/kafkajs/compression.js';
import { decompressZstd, type ZstdLimits } from '../../ingest/sources/zstd.js';
import { compressLz4, compressSnappy, compressZstd } from '../support/compress.js';
import { runs } from '../support/random.js';

const MAX_BYTES = 1024 * 1024;
const CODECS: readonly [
  name: string,
  decompress: Decompress,
  compress: (bytes: Buffer) => Promise<Buffer>,
][] = [
  ['gzip', DECOMPRESSORS[1] as Decompress, promisify(gzip)],
  ['snappy', DECOMPRESSORS[2] as Decompress, async (bytes) => compressSnappy(bytes)],
  ['snappy in frames', DECOMPRESSORS[2] as Decompress, async (bytes) => inFrames(bytes)],
  ['lz4', DECOMPRESSORS[3] as Decompress, async (bytes) => compressLz4(bytes)],
  ['zstd', DECOMPRESSORS[4] as Decompress, compressZstd],
];

/** Frames bytes as Java clients frame snappy. */
function inFrames(bytes: Buffer): Buffer {
  const frames: Buffer[] = [
    Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]),
  ];
  for (let start = 0; start < bytes.length; start += 10_000) {
    const chunk = compressSnappy(bytes.subarray(start, start + 10_000));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(chunk.length);
    frames.push(length, chunk);
  }
  return Buffer.concat(frames);
}

/** Text that repeats at many distances, and bytes that do not. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .tuple(fc.string({ minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 3000 }))
        .map(([text, times]) => Buffer.from(text.repeat(times))),
    ),
    { maxLength: 20 },
  )
  .map((parts) => Buffer.concat(parts));

/** Changes some bytes, and cuts the others off. */
const breaking = fc
  .tuple(fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }), fc.nat())
  .map(([changes, cut]) => (bytes: Buffer) => {
    const broken = Buffer.from(bytes);
    for (const [place, value] of changes) broken[place % broken.length] = value;
    return broken.subarray(0, 1 + (cut % broken.length));
  });
const RUNS = runs(120);

describe('Decompression', function () {
  this.timeout(60_000);
  for (const [name, decompress, compress] of CODECS) {
    it(`of ${name} returns the compressed bytes, and ends within its bound on any others`, async () => {
      await fc.assert(
        fc.asyncProperty(content, breaking, async (bytes, breakBytes) => {
          const compressed = await compress(bytes);
          const whole = await decompress(compressed, MAX_BYTES);
          expect(whole.missing).to.equal(null);
          expect(whole.bytes.equals(bytes)).to.equal(true);
          const broken = await decompress(breakBytes(compressed), MAX_BYTES);
          expect(broken.bytes.length).to.be.at.most(MAX_BYTES);
        }),
        { numRuns: RUNS },
      );
    });

    it(`of ${name} gives the beginning of what is larger than its bound, and says so`, async () => {
      const bytes = Buffer.from('0123456789'.repeat(300_000));
      const { bytes: actual, missing } = await decompress(await compress(bytes), MAX_BYTES);
      expect(missing).to.equal('too large');
      expect(actual.length).to.be.at.most(MAX_BYTES);
      expect(bytes.subarray(0, actual.length).equals(actual)).to.equal(true);
    });
  }

  it('ends on nine bytes of snappy that never ended, and calls them corrupt', async () => {
    const outcome = await DECOMPRESSORS[2]?.(Buffer.from('61fc96a09c9d1534c1', 'hex'), MAX_BYTES);
    expect(outcome).to.include({ missing: 'corrupt' });
  });

  it('allocates for sixty bytes of lz4 no more than they hold', async () => {
    // A block of four bytes that declares 2 GiB, behind a header that declares the same size of the content.
    const bomb = Buffer.alloc(60, 0xff);
    bomb.set([0x04, 0x22, 0x4d, 0x18, 0x68, 0x70, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0x73], 0);
    const before = process.memoryUsage().arrayBuffers;
    const outcome = await DECOMPRESSORS[3]?.(bomb, 128 * MAX_BYTES);
    expect(outcome).to.include({ missing: 'corrupt' });
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(2 * MAX_BYTES);
  });

  it('allocates for a frame of zstd no more than the bound, whatever its header says', async () => {
    const claims = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x70, 0x03, 0, 0, 0x41]);
    expect(await DECOMPRESSORS[4]?.(claims, MAX_BYTES)).to.deep.equal({
      bytes: Buffer.alloc(0),
      missing: 'too large',
    });
  });

  describe('of zstd as it arrives', () => {
    const LIMITS: ZstdLimits = { maxWindowBytes: MAX_BYTES };
    async function* inPieces(bytes: Buffer, size: number) {
      for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
      yield Buffer.alloc(0);
    }
    async function decompress(compressed: Buffer, size = 7, limits = LIMITS) {
      const parts: Buffer[] = [];
      for await (const part of decompressZstd(inPieces(compressed, size), limits)) parts.push(part);
      return Buffer.concat(parts);
    }
    const errorOf = (bytes: Buffer, limits = LIMITS) =>
      decompress(bytes, 7, limits).then(
        () => null,
        ({ name }: Error) => name,
      );

    it('returns the compressed bytes of several frames in pieces of any size, and ends on any others', async () => {
      const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
      const size = fc.integer({ min: 1, max: 500 });
      await fc.assert(
        fc.asyncProperty(content, content, size, breaking, async (first, second, size, breakBytes) => {
          const frames = Buffer.concat([await compressZstd(first), skippable, await compressZstd(second)]);
          expect((await decompress(frames, size)).equals(Buffer.concat([first, second]))).to.equal(true);
          expect(await errorOf(breakBytes(frames))).to.be.oneOf([null, 'ZstdError']);
        }),
        { numRuns: RUNS },
      );
    });

    it('rejects a window above the bound before it is allocated, and too many small frames or blocks', async () => {
      for (const empty of ['502a4d1800000000', '28b52ffd2000010000']) {
        const frames = Buffer.concat(Array(50).fill(Buffer.from(empty, 'hex')));
        expect(await errorOf(frames)).to.equal(null);
        expect(await errorOf(frames, { ...LIMITS, maxMovedBytes: 512 * 1024 })).to.equal('ZstdError');
      }
      const claims = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x70, 0, 0, 0, 0x70, 0x03, 0, 0, 0x41]);
      expect(await errorOf(claims)).to.equal('ZstdError');
      // A window of 1 KiB, and raw blocks of one byte.
      const block = Buffer.from([0x08, 0, 0, 0x41]);
      const small = Buffer.concat([
        Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]),
        ...Array(50).fill(block),
        Buffer.from([1, 0, 0]),
      ]);
      expect((await decompress(small)).toString()).to.equal('A'.repeat(50));
      expect(await errorOf(small, { ...LIMITS, maxMovedBytes: 40 * 1024 })).to.equal('ZstdError');
    });
  });
});
