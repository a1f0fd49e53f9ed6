/** Bytes that can be read twice, such as a compressed body: first to check the bytes, then to process the records. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Replayable {
  /** Reads all bytes from the beginning. */
  read(): AsyncIterable<Uint8Array>;
  /** The memory or file that holds all bytes, for random access. */
  location(): { bytes: Buffer } | { fd: number };
  close(): Promise<void>;
}

export const MAX_MEMORY_BYTES = 4 * 1024 * 1024;
const READ_BYTES = 256 * 1024;

/** The folder for temporary files cannot hold the input. */
export class TemporaryFileError extends Error {
  override readonly name = 'TemporaryFileError';

  constructor(cause: unknown) {
    super(`The folder for temporary files, ${tmpdir()}, has no room for the input.`, { cause });
  }
}

/** Bounds the bytes of temporary files. */
export interface TemporarySpace {
  /** Throws if there is no room for this many bytes now. */
  require(bytes: number): void;
  /** Takes room for bytes. Throws if there is none. */
  take(bytes: number): void;
  release(bytes: number): void;
}

/** A file that may be read several times, and by other readers too. */
export const replayableFile = (path: string): Pick<Replayable, 'read' | 'close'> => ({
  read: () => createReadStream(path, { highWaterMark: READ_BYTES }),
  close: async () => undefined,
});

/**
 * Reads all chunks. Keeps up to 4 MiB in memory. More bytes go to a temporary file without a name, which disappears with the process.
 * Throws the errors of the chunks and of the space, and `TemporaryFileError`. If the expected size is known and the space has no room for
 * it, throws at once.
 */
export async function replayable(
  chunks: AsyncIterable<Uint8Array>,
  space?: TemporarySpace,
  expectedBytes?: number,
): Promise<Replayable> {
  if (expectedBytes !== undefined && expectedBytes > MAX_MEMORY_BYTES) space?.require(expectedBytes);
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let writtenBytes = 0;
  let file: FileHandle | undefined;
  const close = async () => {
    space?.release(writtenBytes);
    writtenBytes = 0;
    await file?.close();
  };
  try {
    for await (const chunk of chunks) {
      held.push(chunk);
      heldBytes += chunk.length;
      if (file === undefined && heldBytes <= MAX_MEMORY_BYTES) continue;
      file ??= await temporaryFile();
      for (const each of held) {
        space?.take(each.length);
        writtenBytes += each.length;
        await writeAll(file, each);
      }
      held = [];
    }
  } catch (error) {
    await close();
    throw error;
  }
  const written = file;
  if (written === undefined) {
    return { read: () => inTurn(held), location: () => ({ bytes: Buffer.concat(held) }), close };
  }
  return { read: () => readAll(written), location: () => ({ fd: written.fd }), close };
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    for (let from = 0; from < bytes.length; ) from += (await file.write(bytes, from)).bytesWritten;
  } catch (error) {
    throw new TemporaryFileError(error);
  }
}

async function* inTurn(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function temporaryFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `reachline-${randomBytes(8).toString('hex')}`);
  try {
    const file = await open(path, 'wx+', 0o600);
    await rm(path);
    return file;
  } catch (error) {
    throw new TemporaryFileError(error);
  }
}

async function* readAll(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
