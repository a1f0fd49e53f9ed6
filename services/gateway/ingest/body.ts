/** The body of an ingest request: its media type, and its bytes, decompressed as they arrive. */
import { PassThrough, Readable, Transform } from 'node:stream';
import type { Context } from 'koa';
import { DamagedInputError, decompressed, type Encoding } from '../../../ingest/sources/decompress.js';
import { recognizeFormat } from '../../../ingest/sources/recognize-format.js';
import { type Replayable, replayable, TemporaryFileError } from '../../../ingest/sources/replayable.js';
import type { TextFormat } from '../../../ingest/sources/text.js';
import type { AdmittedRequest } from '../../http/admission.js';
import { mediaTypeOf, sendContinue } from '../../http/body.js';
import type { BodySource } from '../../http/endpoint.js';
import { Problem } from '../../http/problems.js';
import { UPLOAD_TYPE, type Upload } from './upload.js';

const MIB = 1024 * 1024;
/**
 * Maximum bytes of a body that are held in memory: a whole JSON array, or the first rows of a table. Other content is processed in pieces
 * as it arrives.
 */
export const MAX_HELD_BYTES = 16 * MIB;

/** Maximum ratio of content to compressed bytes that counts as progress: content beyond this ratio does not move the deadline. */
const MAX_RATIO = 32;

/** Formats by media type of the body. */
export const INGEST_FORMATS: Readonly<Record<string, TextFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/** Limits of zstd, enough for some seconds of work: 16 MiB in the smallest blocks. */
const zstdLimits = (maxBytes: number) => ({
  maxWindowBytes: 8 * MIB,
  maxMovedBytes: 1024 * Math.max(maxBytes, MAX_HELD_BYTES),
});

/** Media type of a file whose first bytes show its format. */
export const ANY_FORMAT = 'application/octet-stream';

/** The format of a file, by its media type or, if the media type says nothing (as for an upload by curl), by its first bytes. */
export async function formatOf({
  type,
  chunks,
}: Upload): Promise<{ format: TextFormat; chunks: AsyncIterable<Uint8Array> }> {
  const format = Object.hasOwn(INGEST_FORMATS, type) ? INGEST_FORMATS[type] : undefined;
  return format === undefined ? recognizeFormat(chunks) : { format, chunks };
}

/** Reads a body in a format of records. Throws 413 and 415. */
export const readIngestBody = (ctx: Context, admitted: AdmittedRequest): BodySource =>
  readBodyOf([...Object.keys(INGEST_FORMATS), UPLOAD_TYPE], ctx, admitted);

/** Reads a body in any format. Throws 413 and 415. */
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

/** Bytes of the body as sent; NaN without the header. */
const lengthOf = (ctx: Context): number => Number.parseInt(ctx.get('Content-Length'), 10);

const isCompressed = (encoding: string): boolean => encoding !== '' && encoding !== 'identity';

/** The decompressed body. Does not use `stream.pipeline`, which would destroy the connection that the response needs. */
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
    // While the rest of an arrived body is processed, the connection is idle, so the timeout starts anew.
    req.socket.setTimeout(req.socket.timeout ?? 0);
  };
  /** Whether the last `count` bytes completed another MiB. */
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
  // Readers of the body get these errors themselves, but a request may end before any reader starts.
  limit.on('error', () => undefined);
  const input = decoderOf(ctx, admitted, limit, maxBytes);
  // Counts compressed bytes, which may be endless and hold no content.
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

/** The stream into which to pipe the raw body: `output`, or for a compressed body a decoder before `output`. */
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
      `Send the records without encoding, or with gzip or zstd; not ${JSON.stringify(encoding.slice(0, 64))}.`,
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

/** Records are processed once the whole body was checked, so that no record of a damaged body is stored. */
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

/** The server has no room now. The server may accept the same body later. */
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
    `A request may carry at most ${limit} bytes in this format; send several requests, or lines of JSON.`,
  );
}
