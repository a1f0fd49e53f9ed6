import { spawn } from 'node:child_process';
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { isatty } from 'node:tty';
import { DamagedInputError, decompressed, encodingOf } from '../../../ingest/sources/decompress.js';
import { type Replayable, replayable, replayableFile } from '../../../ingest/sources/replayable.js';
import { resumed } from '../../../ingest/sources/resumed.js';
import { CommandError, UsageError } from '../errors.js';
import { emptyStandardInput, type Io } from '../io.js';

export type Format = 'ndjson' | 'csv' | 'json' | 'xlsx';

/** An opened file or standard input, decompressed. */
export interface Input {
  /** Name of the input in messages. */
  name: string;
  chunks: AsyncIterable<Uint8Array>;
  /** Bytes of the file on disk; undefined for standard input. */
  size: number | undefined;
  /** Bytes of the file read so far. */
  position(): number;
  /** Ends a pending read, which would keep the process alive. */
  close(): void;
}

export function openInput(io: Io, file: string): Input {
  let size: number | undefined;
  let source: Readable;
  if (file === '-') {
    source = isatty(0) ? io.stdin : standardInput();
  } else {
    const stats = statSync(file);
    size = stats.isFile() ? stats.size : undefined;
    source = createReadStream(file, { highWaterMark: 256 * 1024 });
  }
  let position = 0;
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    position = 0;
    for await (const chunk of chunks) {
      position += chunk.length;
      yield chunk;
    }
  };
  const name = file === '-' ? 'standard input' : basename(file);
  const { read, close } = replayableFile(file);
  const again = { read: () => counted(read()), close };
  return {
    name,
    chunks: plain(counted(source), name, size === undefined ? undefined : again),
    size,
    position: () => position,
    close: () => void source.destroy(),
  };
}

/** Standard input, read by another process, because it must be empty in this process. */
function standardInput(): Readable {
  const reader = spawn('cat', { stdio: ['inherit', 'pipe', 'inherit'] });
  emptyStandardInput();
  // When the process exits, Node.js drops data that nobody has read yet.
  const source = reader.stdout.pipe(new PassThrough());
  source.once('close', () => reader.kill());
  return source;
}

/** Format by file extension; undefined means that the first character of the text decides. */
const FORMATS: Record<string, Format | undefined> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
  tsv: 'csv',
  xlsx: 'xlsx',
  json: undefined,
  txt: undefined,
  gz: undefined,
  zst: undefined,
};

/** The format that a file name shows. Throws `UsageError` for an extension of a format that cannot be read. */
export function formatOf(file: string): Format | undefined {
  const extension = extensionOf(file);
  if (extension === undefined || Object.hasOwn(FORMATS, extension)) return FORMATS[extension ?? ''];
  throw new UsageError(
    `${basename(file)}: the extension .${extension} is not known. Records are read from NDJSON (.ndjson, .jsonl), CSV (.csv, .tsv), XLSX (.xlsx) and JSON arrays (.json), also compressed (.gz, .zst). If the file is one of these, name it with --format.`,
  );
}

/** The extension, without the extension of the compression. */
const extensionOf = (file: string) =>
  /\.([a-z][a-z0-9]*)(?:\.(?:gz|zst))?$/i.exec(basename(file))?.[1]?.toLowerCase();

/** Whether the name of a file in a folder says that it holds records. */
export const isReadable = (file: string): boolean => Object.hasOwn(FORMATS, extensionOf(file) ?? '');

/** Window size that zstd uses with its options --ultra and --long. */
const ZSTD_LIMITS = { maxWindowBytes: 128 * 1024 * 1024 };

/**
 * Decompresses gzip and zstd, which it recognizes by their first bytes, so that pipes work too. `again` reopens the input if it can be read
 * twice.
 */
async function* plain(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  again: Pick<Replayable, 'read' | 'close'> | undefined,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first = new Uint8Array();
  while (first.length < 4) {
    const step = await iterator.next();
    if (step.done) break;
    first = Buffer.concat([first, step.value]);
  }
  const whole = resumed([first], iterator);
  const encoding = encodingOf(first);
  if (encoding === undefined) {
    yield* whole;
    return;
  }
  const source = again ?? (await replayable(whole));
  try {
    yield* decompressed(source, encoding, { zstd: ZSTD_LIMITS });
  } catch (error) {
    throw error instanceof DamagedInputError
      ? new CommandError(`${name} is damaged: ${error.message}.`)
      : error;
  } finally {
    await source.close();
    await iterator.return?.();
  }
}

/** Bytes of the first line that are read to recognize the format. */
const MAX_PEEKED_BYTES = 1024 * 1024;

/**
 * Returns whether the text is JSON (an array, or an object over several lines) or lines of JSON, and the whole text, including the part
 * read.
 */
export async function peekJson(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ format: 'json' | 'ndjson'; chunks: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: Buffer = Buffer.alloc(0);
  let line = '';
  while (line === '' || (!/^\[|\n/.test(line) && first.length < MAX_PEEKED_BYTES)) {
    const step = await iterator.next();
    if (step.done) break;
    first = Buffer.concat([first, step.value]);
    line = first.toString().replace('\ufeff', '').trimStart();
  }
  const isObjectOfLines = /^\{[ \t\r]*\n/.test(line);
  return {
    format: line.startsWith('[') || isObjectOfLines ? 'json' : 'ndjson',
    chunks: resumed([first], iterator),
  };
}
