/** Blocks of `compress=1`, which some drivers always request (src/Compression/CompressedWriteBuffer.cpp of ClickHouse). */
import { TimeSlice } from '../shared/async.js';
import { cityHash128 } from './city-hash.js';

const LZ4 = 0x82;
const CHECKSUM_BYTES = 16;
/** Size of the header: the method, and the sizes of the block (without checksum) and of its content. */
const HEADER_BYTES = 9;
const CONTENT_BYTES = 64 * 1024;

/**
 * Frames a response for drivers that accept no other form. A block holds its content as one run of LZ4 literals, without compression: the
 * endpoint listens only on this machine, where compressing costs more than it saves.
 */
export async function compressedBlocks(bytes: Uint8Array): Promise<Buffer> {
  const slice = new TimeSlice();
  const blocks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += CONTENT_BYTES) {
    blocks.push(block(bytes.subarray(start, start + CONTENT_BYTES)));
    if (slice.shouldYield(CONTENT_BYTES)) await slice.yieldToEventLoop();
  }
  return Buffer.concat(blocks);
}

function block(content: Uint8Array): Buffer {
  const literals = literalLength(content.length);
  const hashed = Buffer.allocUnsafe(HEADER_BYTES + literals.length + content.length);
  hashed[0] = LZ4;
  hashed.writeUInt32LE(hashed.length, 1);
  hashed.writeUInt32LE(content.length, 5);
  hashed.set(literals, HEADER_BYTES);
  hashed.set(content, HEADER_BYTES + literals.length);
  const checksum = Buffer.allocUnsafe(CHECKSUM_BYTES);
  const [low, high] = cityHash128(hashed);
  checksum.writeBigUInt64LE(low, 0);
  checksum.writeBigUInt64LE(high, 8);
  return Buffer.concat([checksum, hashed]);
}

/** The token of a last sequence, which has only literals, and the bytes that extend its length, in LZ4's block format. */
function literalLength(length: number): number[] {
  if (length < 15) return [length << 4];
  const rest = length - 15;
  return [0xf0, ...new Array<number>(Math.floor(rest / 255)).fill(255), rest % 255];
}
