/**
 * Decompresses record batches up to a bound. No decoder allocates more than the bound or the input allows, whatever sizes the input
 * declares, and every decoder ends on every input.
 */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { decompressZstd, ZstdLimitError } from '../../zstd.js';

/** Decompressed bytes, and the reason if they are incomplete. */
export interface DecompressionResult {
  bytes: Buffer;
  /** `null` if the bytes are complete. */
  missing: 'too large' | 'corrupt' | null;
}

export type Decompress = (compressed: Buffer, maxBytes: number) => Promise<DecompressionResult>;

/** Decompressors by the codec number of a record batch. */
export const DECOMPRESSORS: Readonly<Record<number, Decompress>> = {
  0: async (bytes) => ({ bytes, missing: null }),
  1: (compressed, maxBytes) => collect(maxBytes, (output) => readGzip(compressed, output)),
  2: (compressed, maxBytes) => collect(maxBytes, (output) => readSnappy(compressed, output)),
  3: (compressed, maxBytes) => collect(maxBytes, (output) => readLz4(compressed, output)),
  4: (compressed, maxBytes) => collect(maxBytes, (output) => readZstd(compressed, maxBytes, output)),
};

class CorruptError extends Error {}
class TooLargeError extends Error {}

/** A buffer that grows up to a bound. */
class Output {
  #bytes: Buffer;
  readonly #maxBytes: number;
  length = 0;

  constructor(maxBytes: number, firstBytes = 64 * 1024) {
    this.#maxBytes = maxBytes;
    this.#bytes = Buffer.allocUnsafe(Math.min(firstBytes, maxBytes));
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  append(source: Buffer, start: number, end: number): void {
    if (start < 0 || end < start || end > source.length) throw new CorruptError();
    const fits = this.#reserve(end - start);
    source.copy(this.#bytes, this.length, start, start + fits);
    this.length += fits;
    if (fits < end - start) throw new TooLargeError();
  }

  /** Repeats `count` bytes, starting `distance` bytes before the end. Source and target may overlap. */
  repeat(distance: number, count: number): void {
    if (distance <= 0 || distance > this.length) throw new CorruptError();
    const fits = this.#reserve(count);
    const bytes = this.#bytes;
    const start = this.length;
    for (let copied = 0; copied < fits; ) {
      const some = Math.min(distance + copied, fits - copied);
      bytes.copyWithin(start + copied, start - distance, start - distance + some);
      copied += some;
    }
    this.length += fits;
    if (fits < count) throw new TooLargeError();
  }

  /** Makes room, and returns how many of the requested bytes fit. */
  #reserve(count: number): number {
    const wanted = this.length + count;
    if (wanted > this.#bytes.length && this.#bytes.length < this.#maxBytes) {
      const grown = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(wanted, 2 * this.#bytes.length)));
      this.bytes.copy(grown);
      this.#bytes = grown;
    }
    return Math.min(count, this.#bytes.length - this.length);
  }
}

async function collect(
  maxBytes: number,
  decode: (output: Output) => void | Promise<void>,
): Promise<DecompressionResult> {
  const output = new Output(maxBytes);
  try {
    await decode(output);
    return { bytes: output.bytes, missing: null };
  } catch (error) {
    return { bytes: output.bytes, missing: error instanceof TooLargeError ? 'too large' : 'corrupt' };
  }
}

async function readGzip(compressed: Buffer, output: Output): Promise<void> {
  const stream = createGunzip();
  stream.end(compressed);
  for await (const chunk of stream) output.append(chunk, 0, chunk.length);
}

async function readZstd(compressed: Buffer, maxBytes: number, output: Output): Promise<void> {
  try {
    const chunks = decompressZstd(Readable.from([compressed]), { maxWindowBytes: maxBytes });
    for await (const chunk of chunks) {
      output.append(chunk, 0, chunk.length);
    }
  } catch (error) {
    throw error instanceof ZstdLimitError ? new TooLargeError() : error;
  }
}

/** Java clients write snappy in their own frame (xerial): a header of 16 bytes, then chunks, each after its length. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER = 16;

function readSnappy(compressed: Buffer, output: Output): void {
  if (!compressed.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) {
    readSnappyBlock(compressed, output);
    return;
  }
  for (let start = XERIAL_HEADER; start < compressed.length; ) {
    if (start + 4 > compressed.length) throw new CorruptError();
    const end = start + 4 + compressed.readUInt32BE(start);
    if (end > compressed.length) throw new CorruptError();
    readSnappyBlock(compressed.subarray(start + 4, end), output);
    start = end;
  }
}

/** Reads a block of snappy: https://github.com/google/snappy/blob/main/format_description.txt */
function readSnappyBlock(input: Buffer, output: Output): void {
  let at = 0;
  let declared = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = input[at++];
    if (byte === undefined || shift > 28) throw new CorruptError();
    declared += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  const end = output.length + declared;
  while (at < input.length) {
    const tag = input[at++] as number;
    const kind = tag & 3;
    if (kind === 0) {
      let length = tag >> 2;
      if (length >= 60) {
        const bytes = length - 59;
        if (at + bytes > input.length) throw new CorruptError();
        length = input.readUIntLE(at, bytes);
        at += bytes;
      }
      length += 1;
      output.append(input, at, at + length);
      at += length;
    } else {
      const bytes = kind === 3 ? 4 : kind;
      if (at + bytes > input.length) throw new CorruptError();
      const offset = input.readUIntLE(at, bytes) + (kind === 1 ? (tag >> 5) << 8 : 0);
      at += bytes;
      output.repeat(offset, kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2));
    }
    if (output.length > end) throw new CorruptError();
  }
  if (output.length !== end) throw new CorruptError();
}

const LZ4_MAGIC = 0x184d2204;
const LZ4_UNCOMPRESSED = 0x80000000;

/**
 * Reads an LZ4 frame: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md. Checksums are not verified, because the record batch has
 * its own checksum.
 */
function readLz4(input: Buffer, output: Output): void {
  if (input.length < 7 || input.readUInt32LE(0) !== LZ4_MAGIC) throw new CorruptError();
  const flags = input[4] as number;
  if (flags >> 6 !== 1 || flags & 1) throw new CorruptError();
  const blocksHaveChecksums = (flags & 0x10) !== 0;
  let at = 7 + (flags & 0x08 ? 8 : 0);
  for (;;) {
    if (at + 4 > input.length) throw new CorruptError();
    const size = input.readUInt32LE(at);
    at += 4;
    if (size === 0) return;
    const length = size & ~LZ4_UNCOMPRESSED;
    if (at + length > input.length) throw new CorruptError();
    if (size >= LZ4_UNCOMPRESSED) output.append(input, at, at + length);
    else readLz4Block(input.subarray(at, at + length), output);
    at += length + (blocksHaveChecksums ? 4 : 0);
  }
}

/** Reads an LZ4 block: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md */
function readLz4Block(input: Buffer, output: Output): void {
  let at = 0;
  const lengthFrom = (nibble: number) => {
    let length = nibble;
    if (nibble === 15) {
      for (let byte = 255; byte === 255; length += byte) {
        const next = input[at++];
        if (next === undefined) throw new CorruptError();
        byte = next;
      }
    }
    return length;
  };
  while (at < input.length) {
    const token = input[at++] as number;
    const literals = lengthFrom(token >> 4);
    output.append(input, at, at + literals);
    at += literals;
    // The last sequence has only literals.
    if (at === input.length) return;
    if (at + 2 > input.length) throw new CorruptError();
    const distance = input.readUInt16LE(at);
    at += 2;
    output.repeat(distance, 4 + lengthFrom(token & 15));
  }
}
