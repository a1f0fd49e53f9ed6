/** The codecs of record batches that kafkajs lacks. gzip it has. They read only: what is sent from here is not compressed. */
import { decompress as decompressZstd } from 'fzstd';
import lz4 from 'lz4js';
import snappy from 'snappyjs';

export interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}

/** Java clients write snappy in a frame of their own (xerial): a header of 16 bytes, then chunks behind their length. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER = 16;

export const snappyCodec = reading('snappy', (compressed) => {
  if (!compressed.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) {
    return Buffer.from(snappy.uncompress(compressed));
  }
  const chunks: Uint8Array[] = [];
  for (let start = XERIAL_HEADER; start < compressed.length; ) {
    const end = start + 4 + compressed.readUInt32BE(start);
    chunks.push(snappy.uncompress(compressed.subarray(start + 4, end)));
    start = end;
  }
  return Buffer.concat(chunks);
});

export const lz4Codec = reading('lz4', (compressed) => Buffer.from(lz4.decompress(compressed)));

export const zstdCodec = reading('zstd', (compressed) => Buffer.from(decompressZstd(compressed)));

function reading(name: string, decompress: (compressed: Buffer) => Buffer): Codec {
  return {
    compress: async () => {
      throw new Error(`${name} is read, not written`);
    },
    decompress: async (compressed) => decompress(compressed),
  };
}
