/** Bytes as producers compress them. */
import { compress, init } from '@bokuweb/zstd-wasm';
import lz4 from 'lz4js';
import snappy from 'snappyjs';

export const compressSnappy = (bytes: Buffer) => Buffer.from(snappy.compress(bytes));

export function compressLz4(bytes: Buffer): Buffer {
  const frame = Buffer.from(lz4.compress(bytes));
  // The library marks its blocks as dependent, which brokers reject; a single block, up to 4 MB, is independent. Flags, size, their
  // checksum.
  frame.set([0x60, 0x70, 0x73], 4);
  return frame;
}

let zstd: Promise<void> | undefined;

export async function compressZstd(bytes: Buffer): Promise<Buffer> {
  // Each call of `init` empties the memory in which others compress.
  zstd ??= init();
  await zstd;
  return Buffer.from(compress(bytes));
}
