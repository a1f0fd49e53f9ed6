/** The parts of an XLSX file, which is a zip archive. */
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, fromBuffer, fromFd, type Options, type ZipFile } from 'yauzl';
import { TimeSlice } from '../../../services/shared/async.js';
import { UnreadableInputError } from '../../records/raw-record.js';
import type { Replayable } from '../replayable.js';

export const MAX_PART_BYTES = 16 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
/** Maximum characters kept until a tag, comment or CDATA section ends. */
const MAX_TAG_BYTES = 1024 * 1024;

export const broken = (detail: string) =>
  new UnreadableInputError('invalid_body', `The file cannot be read as XLSX: ${detail}.`);

export const notZip = () => broken('it is none; save it as XLSX, or as CSV in UTF-8');

/** The files within an XLSX file, by name. */
export interface Parts {
  get(name: string): Part | undefined;
}

export interface Part {
  name: string;
  crc32: number;
  /** Signal that ends the reading of the part. */
  signal?: AbortSignal;
  open(): Promise<Readable>;
}

export async function openZip(source: Replayable, signal?: AbortSignal): Promise<Parts> {
  const location = await source.location();
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    // Does not close the descriptor, which belongs to the source.
    const options: Options = { lazyEntries: true, autoClose: false };
    const opened = (error: Error | null, file: ZipFile) => (error ? reject(notZip()) : resolve(file));
    if ('bytes' in location) fromBuffer(location.bytes, options, opened);
    else fromFd(location.fd, options, opened);
  });
  const entries = new Map<string, Entry>();
  await new Promise<void>((resolve, reject) => {
    zip.on('error', () => reject(broken('it is damaged')));
    zip.on('end', resolve);
    zip.on('entry', (entry: Entry) => {
      // Excel accepts names regardless of case.
      entries.set(entry.fileName.toLowerCase(), entry);
      if (entries.size > MAX_ENTRIES) reject(broken('it has too many parts'));
      else zip.readEntry();
    });
    zip.readEntry();
  });
  return {
    get(name) {
      const entry = entries.get(name.toLowerCase());
      if (entry === undefined) return undefined;
      if (entry.isEncrypted()) throw broken('it is protected by a password');
      return { name, crc32: entry.crc32, signal, open: () => zip.openReadStreamPromise(entry) };
    },
  };
}

/** Yields the text of a part. Throws `UnreadableInputError`; if the checksum does not match, throws it at the end. */
export async function* textOf(part: Part, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let open = 0;
  let limit = maxBytes;
  let checksum = 0;
  const slice = new TimeSlice();
  const stream = await part.open().catch(() => {
    throw broken('it is damaged');
  });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      part.signal?.throwIfAborted();
      bytes += chunk.length;
      checksum = crc32(chunk, checksum);
      if (chunk.includes('<!')) limit = Math.min(maxBytes, MAX_PART_BYTES);
      if (bytes > limit) throw broken(`${part.name} has more than ${limit} bytes`);
      const end = chunk.lastIndexOf('>');
      open = end < 0 ? open + chunk.length : chunk.length - end - 1;
      if (open > MAX_TAG_BYTES) throw broken(`${part.name} has a text of more than ${MAX_TAG_BYTES} bytes`);
      yield decoder.decode(chunk, { stream: true });
      if (slice.shouldYield(chunk.length)) await slice.yieldToEventLoop(part.signal);
    }
    if (checksum !== part.crc32) throw broken('its checksum does not match its content');
    yield decoder.decode();
  } catch (error) {
    part.signal?.throwIfAborted();
    throw error instanceof UnreadableInputError ? error : broken('it is damaged');
  }
}
