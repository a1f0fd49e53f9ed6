/** Decompresses an input after checking the whole input, so that no record is stored before the checksum at the end is verified. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { MAX_MEMORY_BYTES, type Replayable } from './replayable.js';
import { decompressZstd, isSkippableFrame, ZSTD_MAGIC, ZstdError, type ZstdLimits } from './zstd.js';

export type Encoding = 'gzip' | 'zstd';

/** The input is not valid gzip or zstd; the message says what is wrong, such as `it ends early`. */
export class DamagedInputError extends Error {
  override readonly name = 'DamagedInputError';
}

export interface DecompressOptions {
  zstd: ZstdLimits;
  /** Called with the number of new bytes before they are stored or yielded for the first time. May throw to end the input. */
  onBytes?(bytes: number): void;
}

/**
 * Yields the content once the whole input was decompressed without an error. Content over 4 MiB is decompressed twice, so that memory stays
 * bounded. Throws `DamagedInputError`, and the errors of the source.
 */
export async function* decompressed(
  source: Pick<Replayable, 'read'>,
  encoding: Encoding,
  { zstd, onBytes }: DecompressOptions,
): AsyncGenerator<Buffer> {
  const decode = () => (encoding === 'gzip' ? gunzip(source.read()) : unzstd(source.read(), zstd));
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const part of decode()) {
    onBytes?.(part.length);
    bytes += part.length;
    if (bytes <= MAX_MEMORY_BYTES) held.push(part);
    else held = [];
  }
  if (bytes <= MAX_MEMORY_BYTES) yield* held;
  else yield* decode();
}

/** The encoding that the first four bytes show. Parallel compressors begin with a skippable frame. */
export function encodingOf(beginning: Uint8Array): Encoding | undefined {
  if (beginning[0] === 0x1f && beginning[1] === 0x8b) return 'gzip';
  const magic = beginning.length < 4 ? 0 : Buffer.from(beginning).readUInt32LE(0);
  return magic === ZSTD_MAGIC || isSkippableFrame(magic) ? 'zstd' : undefined;
}

const GZIP_ERRORS: Readonly<Record<string, string>> = {
  'incorrect data check': 'its checksum does not match its content',
  'incorrect length check': 'its checksum does not match its content',
  'unexpected end of file': 'it ends early',
};

async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const source = Readable.from(chunks, { objectMode: false });
  const output = source.pipe(createGunzip());
  source.once('error', (error) => output.destroy(error));
  try {
    yield* output as AsyncIterable<Buffer>;
  } catch (error) {
    if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new DamagedInputError(GZIP_ERRORS[(error as Error).message] ?? 'it is not valid gzip');
  } finally {
    source.destroy();
  }
}

async function* unzstd(chunks: AsyncIterable<Uint8Array>, limits: ZstdLimits): AsyncGenerator<Buffer> {
  try {
    yield* decompressZstd(chunks, limits);
  } catch (error) {
    throw error instanceof ZstdError ? new DamagedInputError(error.message) : error;
  }
}
