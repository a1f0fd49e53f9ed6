/** Decompresses zstd as it arrives. Node.js supports zstd from version 22.15 on. */
import { Decompress } from 'fzstd';
import xxhash, { type XXHashAPI } from 'xxhash-wasm';
import { TimeSlice } from '../../services/shared/async.js';

/** The input is not valid zstd, or exceeds the limits of decompression. The message says which of these is the case. */
export class ZstdError extends Error {
  override readonly name = 'ZstdError';
}

/** The input may be valid zstd, but exceeds the limits. */
export class ZstdLimitError extends ZstdError {}

export interface ZstdLimits {
  /** Maximum bytes of a window. Decoders should support at least 8 MiB (RFC 8878 3.1.1.1.2). */
  maxWindowBytes: number;
  /**
   * Maximum bytes that fzstd may move. fzstd moves the whole window for each block, so many small blocks are slow. Each block also counts
   * as `STEP_BYTES`.
   */
  maxMovedBytes?: number;
}

export const ZSTD_MAGIC = 0xfd2fb528;
/** First of 16 magic numbers: the lower four bits may vary. */
const ZSTD_SKIPPABLE = 0x184d2a50;
const MAX_BLOCK_BYTES = 128 * 1024;
/** Cost of a frame or block without content, expressed as the number of bytes that could be copied in the same time. */
const STEP_BYTES = 16 * 1024;
const HAS_CHECKSUM = 0x04;
const IS_SINGLE_SEGMENT = 0x20;

export const isSkippableFrame = (magic: number): boolean => (magic & ~0xf) >>> 0 === ZSTD_SKIPPABLE;

/** Offsets and values of the fields of a frame header. https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.1 */
function zstdHeader(descriptor: number) {
  const isSingleSegment = (descriptor & IS_SINGLE_SEGMENT) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  const sizeAt = (isSingleSegment ? 5 : 6) + ([0, 1, 2, 4][descriptor & 3] as number);
  return {
    /** Bytes of the header, including the magic number. */
    bytes: sizeAt + sizeBytes,
    isSingleSegment,
    hasChecksum: (descriptor & HAS_CHECKSUM) !== 0,
    /** Bytes that a decoder allocates; `header` begins with the magic number. */
    windowBytes(header: Buffer): number {
      if (!isSingleSegment) {
        const window = header[5] as number;
        const base = 2 ** (10 + (window >> 3));
        return base + (base / 8) * (window & 7);
      }
      if (sizeBytes === 8) return Number(header.readBigUInt64LE(sizeAt));
      return header.readUIntLE(sizeAt, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
    },
  };
}

/** The number of bytes of a block after its header of 3 bytes. */
function zstdBlock(header: number) {
  const isRepeated = ((header >> 1) & 3) === 1;
  return { isLast: (header & 1) === 1, size: header >> 3, bytes: isRepeated ? 1 : header >> 3 };
}

let hashes: Promise<XXHashAPI> | undefined;

/** Yields the content block by block. Throws `ZstdError`; finds a checksum that does not match only after the content of its frame. */
export async function* decompressZstd(
  chunks: AsyncIterable<Uint8Array>,
  { maxWindowBytes, maxMovedBytes = Number.POSITIVE_INFINITY }: ZstdLimits,
): AsyncGenerator<Buffer> {
  const input = new ByteReader(chunks);
  const slice = new TimeSlice();
  let movedBytes = 0;
  const step = async (windowBytes: number) => {
    movedBytes += STEP_BYTES + windowBytes;
    if (movedBytes > maxMovedBytes) {
      throw new ZstdLimitError('it has too many small frames or blocks; compress it as a whole');
    }
    if (slice.shouldYield(windowBytes)) await slice.yieldToEventLoop();
  };
  while (!(await input.isAtEnd())) {
    await step(0);
    const start = await input.read(5);
    const magic = start.readUInt32LE(0);
    if (isSkippableFrame(magic)) {
      const rest = await input.read(3);
      await input.skip(Buffer.concat([start.subarray(4), rest]).readUInt32LE(0));
      continue;
    }
    if (magic !== ZSTD_MAGIC) throw new ZstdError('it is not valid zstd');
    const frame = zstdHeader(start[4] as number);
    const header = Buffer.concat([start, await input.read(frame.bytes - start.length)]);
    const windowBytes = frame.windowBytes(header);
    if (windowBytes > maxWindowBytes) {
      const problem = `its window is larger than ${maxWindowBytes} bytes; compress at a lower level`;
      throw new ZstdLimitError(problem);
    }
    // fzstd skips checksums, so this function verifies them. Without a checksum, the last block ends the frame.
    if (frame.hasChecksum) hashes ??= xxhash();
    const hash = frame.hasChecksum ? (await hashes)?.create64() : undefined;
    header.writeUInt8((start[4] as number) & ~HAS_CHECKSUM, 4);
    let ready: Uint8Array[] = [];
    const decoder = new Decompress((block) => void ready.push(block));
    push(decoder, header, false);
    for (let isLast = false; !isLast; ) {
      const blockHeader = await input.read(3);
      const block = zstdBlock(blockHeader.readUIntLE(0, 3));
      if (block.size > MAX_BLOCK_BYTES) throw new ZstdError('it is not valid zstd');
      isLast = block.isLast;
      push(decoder, Buffer.concat([blockHeader, await input.read(block.bytes)]), isLast);
      for (const each of ready) {
        hash?.update(each);
        yield Buffer.from(each.buffer, each.byteOffset, each.length);
      }
      ready = [];
      await step(windowBytes);
    }
    if (hash === undefined) continue;
    const checksum = (await input.read(4)).readUInt32LE(0);
    if (BigInt.asUintN(32, hash.digest()) !== BigInt(checksum)) {
      throw new ZstdError('its checksum does not match its content');
    }
  }
}

function push(decoder: Decompress, bytes: Buffer, isLast: boolean): void {
  try {
    decoder.push(bytes, isLast);
  } catch {
    throw new ZstdError('it is not valid zstd');
  }
}

/** Reads chunks as one sequence of bytes. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#held.length === 0) if (!(await this.#fill())) return true;
    return false;
  }

  /** Reads bytes. Throws `ZstdError` if the input has fewer bytes. */
  async read(count: number): Promise<Buffer> {
    while (this.#held.length < count) {
      if (!(await this.#fill())) throw new ZstdError('it ends early');
    }
    const bytes = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return bytes;
  }

  async skip(count: number): Promise<void> {
    let left = count;
    while (left > this.#held.length) {
      left -= this.#held.length;
      this.#held = Buffer.alloc(0);
      if (!(await this.#fill())) throw new ZstdError('it ends early');
    }
    this.#held = this.#held.subarray(left);
  }

  /** Reads another chunk, which may be empty. Returns false at the end of the input. */
  async #fill(): Promise<boolean> {
    const step = await this.#chunks.next();
    if (step.done) return false;
    this.#held = this.#held.length === 0 ? Buffer.from(step.value) : Buffer.concat([this.#held, step.value]);
    return true;
  }
}
