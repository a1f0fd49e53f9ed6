/** Bytes as producers compress them. */
import { compress, init } from '@bokuweb/zstd-wasm';
import lz4 from 'lz4js';
import snappy from 'snappyjs';

export const compressSnappy = (bytes: Buffer) => Buffer.from(snappy.compress(bytes));

export function compressLz4(bytes: Buffer): Buffer {
  const frame = Buffer.from(lz4.compress(bytes));
  // The library calls its blocks dependent, which brokers reject; one block is not, up to 4 MB. Flags, size, their checksum.
  frame.set([0x60, 0x70, 0x73], 4);
  return frame;
}

let zstd: Promise<void> | undefined;

export async function compressZstd(bytes: Buffer): Promise<Buffer> {
  // Each call of it empties the memory that others compress in.
  zstd ??= init();
  await zstd;
  return Buffer.from(compress(bytes));
}
