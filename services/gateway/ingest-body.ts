/** The body of an ingest request: its media type, and its bytes, decompressed as they arrive. */
import { PassThrough, Readable, Transform } from 'node:stream';
import type { Context } from 'koa';
import { DamagedInputError, decompressed, type Encoding } from '../../ingest/sources/decompress.js';
import { recognizeFormat } from '../../ingest/sources/recognize-format.js';
import { type Replayable, replayable, TemporaryFileError } from '../../ingest/sources/replayable.js';
import type { TextFormat } from '../../ingest/sources/text.js';
import type { AdmittedRequest } from '../http/admission.js';
import { mediaTypeOf, sendContinue } from '../http/body.js';
import type { BodySource } from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import { UPLOAD_TYPE, type Upload } from './upload.js';

const MIB = 1024 * 1024;
/** JSON is held as a whole, as are the first rows of a table. What follows is taken as it arrives, in pieces. */
export const MAX_HELD_BYTES = 16 * MIB;

/** Bytes that a compressed byte of records stands for at most: content beyond moves no deadline. */
const MAX_RATIO = 32;

/** Media types of the body. */
export const INGEST_FORMATS: Readonly<Record<string, TextFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/** Some seconds of work for 16 MiB in the smallest blocks. */
const zstdLimits = (maxBytes: number) => ({
  maxWindowBytes: 8 * MIB,
  maxMovedBytes: 1024 * Math.max(maxBytes, MAX_HELD_BYTES),
});

/** Of a file whose format is recognized by its first bytes. */
export const ANY_FORMAT = 'application/octet-stream';

/** The format of a file, by its media type or, where that says nothing, as that of an upload by curl, by its first bytes. */
export async function formatOf({
  type,
  chunks,
}: Upload): Promise<{ format: TextFormat; chunks: AsyncIterable<Uint8Array> }> {
  const format = Object.hasOwn(INGEST_FORMATS, type) ? INGEST_FORMATS[type] : undefined;
  return format === undefined ? recognizeFormat(chunks) : { format, chunks };
}

/** Throws 413 and 415. */
export const readIngestBody = (ctx: Context, admitted: AdmittedRequest): BodySource =>
  readBodyOf([...Object.keys(INGEST_FORMATS), UPLOAD_TYPE], ctx, admitted);

/** Of any format. Throws 413 and 415. */
export const readFileBody = (ctx: Context, admitted: AdmittedRequest): BodySource =>
  readBodyOf([...Object.keys(INGEST_FORMATS), ANY_FORMAT, UPLOAD_TYPE], ctx, admitted);

function readBodyOf(types: readonly string[], ctx: Context, admitted: AdmittedRequest): BodySource {
  const { type, charset } = mediaTypeOf(ctx, types);
  const limit = type === 'application/json' ? MAX_HELD_BYTES : admitted.maxIngestBytes;
  const length = lengthOf(ctx);
  if (length > limit) throw tooLarge(limit);
  return {
    type,
    charset,
    contentType: ctx.get('Content-Type'),
    expectedBytes: isCompressed(ctx.get('Content-Encoding')) ? Number.NaN : length,
    temporarySpace: admitted.temporarySpace,
    atDeadline(complete) {
      admitted.atDeadline = complete;
    },
    chunks: {
      [Symbol.asyncIterator]() {
        sendContinue(ctx);
        return bodyOf(ctx, admitted, limit)[Symbol.asyncIterator]();
      },
    },
  };
}

/** Bytes as sent; NaN where the header does not tell them. */
const lengthOf = (ctx: Context): number => Number.parseInt(ctx.get('Content-Length'), 10);

const isCompressed = (encoding: string): boolean => encoding !== '' && encoding !== 'identity';

/** The decompressed body. Not `stream.pipeline`, which destroys the connection that the response needs. */
function bodyOf(ctx: Context, admitted: AdmittedRequest, maxBytes: number): AsyncIterable<Buffer> {
  const { req } = ctx;
  let bytes = 0;
  let held = 0;
  const hold = (count: number) => {
    const more = Math.min(count, MAX_HELD_BYTES - held);
    if (more <= 0) return;
    held += more;
    admitted.acquire('bodyBytes', more);
  };
  let compressedBytes = 0;
  const moveDeadline = () => {
    admitted.moveDeadline();
    // The connection is idle while a body that has arrived is taken.
    req.socket.setTimeout(req.socket.timeout ?? 0);
  };
  /** Whether the bytes reach another MiB with the last `count`. */
  const isProgress = (total: number, count: number) =>
    Math.floor(total / MIB) > Math.floor((total - count) / MIB);
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      try {
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        const isPlausible = bytes <= MAX_HELD_BYTES + MAX_RATIO * compressedBytes;
        if (isPlausible && isProgress(bytes, chunk.length)) moveDeadline();
        hold(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  // Whoever reads sees its errors; a request may also end before anybody reads.
  limit.on('error', () => undefined);
  const input = decoderOf(ctx, admitted, limit, maxBytes);
  // Compressed bytes may hold no content, without end.
  const countCompressed = (chunk: Buffer) => {
    compressedBytes += chunk.length;
    if (compressedBytes > maxBytes) limit.destroy(tooLarge(maxBytes));
    if (isProgress(compressedBytes, chunk.length)) moveDeadline();
  };
  req.on('data', countCompressed);
  req.pipe(input);
  const abort = () => limit.destroy(admitted.signal.reason as Error);
  admitted.signal.addEventListener('abort', abort, { once: true });
  req.once('close', () => {
    if (!req.complete) limit.destroy(new Problem('invalid_body', 'The body ended early.'));
  });
  limit.once('close', () => {
    admitted.costs.received(compressedBytes);
    admitted.signal.removeEventListener('abort', abort);
    req.off('data', countCompressed);
    req.unpipe(input);
    if (input !== limit) input.destroy();
  });
  return limit;
}

/** The stream to pipe the raw body into: `output`, behind a decoder where the body is compressed. */
function decoderOf(
  ctx: Context,
  { temporarySpace }: AdmittedRequest,
  output: Transform,
  maxBytes: number,
): Transform {
  const encoding = ctx.get('Content-Encoding');
  if (!isCompressed(encoding)) return output;
  if (encoding !== 'gzip' && encoding !== 'zstd') {
    throw new Problem(
      'unsupported_media_type',
      `Send the records as they are, or gzip or zstd encoded; not ${JSON.stringify(encoding.slice(0, 64))}.`,
    );
  }
  const compressed = new PassThrough();
  const hold = () => replayable(compressed, temporarySpace, lengthOf(ctx));
  const content = Readable.from(contentOf(hold, encoding, output, maxBytes), { objectMode: false });
  content.once('error', (error) => output.destroy(problemOf(error, encoding)));
  output.once('close', () => content.destroy());
  content.pipe(output);
  return compressed;
}

/** Records are taken once the whole body was checked, so that none of a damaged one is stored. */
async function* contentOf(
  hold: () => Promise<Replayable>,
  encoding: Encoding,
  output: Transform,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const source = await hold();
  let bytes = 0;
  try {
    yield* decompressed(source, encoding, {
      zstd: zstdLimits(maxBytes),
      onBytes(count) {
        bytes += count;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        if (output.destroyed) throw new Problem('invalid_body', 'The request has ended.');
      },
    });
  } finally {
    await source.close();
  }
}

function problemOf(error: Error, encoding: Encoding): Error {
  if (error instanceof DamagedInputError) {
    return new Problem('invalid_body', `The body is ${encoding} encoded, but ${error.message}.`);
  }
  if (error instanceof TemporaryFileError) return noTemporarySpace(error);
  return error;
}

/** The server is what lacks room: the same body may be taken later. */
export function noTemporarySpace(error: TemporaryFileError): Problem {
  const problem = new Problem(
    'overloaded',
    `${error.message} None of these records was accepted. Send them again later, in smaller bodies, or without compression and on_reject=fail.`,
  );
  problem.cause = error;
  return problem;
}

function tooLarge(limit: number): Problem {
  return new Problem(
    'body_too_large',
    `A request may carry at most ${limit} bytes of such records; send several, or lines of JSON.`,
  );
}
