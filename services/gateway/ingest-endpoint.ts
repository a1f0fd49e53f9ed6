import { Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import Type from 'typebox';
import { ingestLines } from '../../ingest/pipeline.js';
import type { Publisher } from '../../ingest/publisher.js';
import { UnreadableInputError } from '../../ingest/records/raw-record.js';
import { findStream, unknownStream } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { requireMediaType, sendContinue } from '../http/body.js';
import { readIdempotencyKey } from '../http/idempotency.js';
import { type Principal, requireScope } from '../http/principal.js';
import { invalid, Problem } from '../http/problems.js';
import { readQuery } from '../http/query-string.js';
import { acceptanceClock } from '../shared/record-order.js';
import { boolean, strictObject } from '../shared/schema.js';
import type { Clock } from '../shared/time.js';
import { compileValidator } from '../shared/validation.js';
import type { Stores } from '../stores/open-stores.js';
import type { AdmittedRequest } from './admission.js';
import type { Metrics } from './metrics.js';

/** Maximum bytes of records per request, after decompression. */
export const INGEST_BODY_LIMIT = 16 * 1024 * 1024;

/**
 * `POST /api/ingest/{stream}`: sends the records of the body through the ingest pipeline, to their store or, with a publisher, to the
 * Kafka topic of their stream. Throws a Problem when the request as a whole is rejected.
 */
export function createIngestEndpoint(
  stores: Pick<Stores, 'search' | 'analytics'>,
  publisher: Publisher | undefined,
  metrics: Metrics,
  clock: Clock,
) {
  const acceptance = acceptanceClock(clock);
  return async function ingest(ctx: Context, principal: Principal, request: AdmittedRequest): Promise<void> {
    requireScope(principal, 'ingest:write');
    const name = (ctx.params as { stream: string }).stream;
    const stream = findStream(name);
    if (!stream) throw new Problem('stream_not_found', unknownStream(name));
    const dryRun = readParameters(ctx);
    const type = requireMediaType(ctx, ['application/x-ndjson', 'application/json']);
    if (Number(ctx.get('Content-Length')) > INGEST_BODY_LIMIT) throw tooLarge();
    sendContinue(ctx);
    const { accepted, rejected, rounded, errors } = await ingestLines({
      stream: dryRun ? withoutWrites(stream) : (publisher?.toKafka(stream, request.signal) ?? stream),
      stores,
      source: bodyOf(ctx, request),
      format: type === 'application/json' ? 'json' : 'ndjson',
      organizationId: principal.organizationId,
      acceptance: acceptance(),
      signal: request.signal,
    }).catch((error: unknown) => {
      throw toProblem(error);
    });
    const answer = { stream: name, accepted, rejected, rounded, errors };
    if (dryRun) {
      ctx.body = { ...answer, dry_run: true };
      return;
    }
    metrics.ingested.inc({ stream: name, outcome: 'accepted' }, accepted);
    metrics.ingested.inc({ stream: name, outcome: 'rejected' }, rejected);
    ctx.body = answer;
  };
}

/** The query parameters of the route. */
export const IngestQuery = strictObject({
  dry_run: Type.Optional(
    boolean('Check every record, write nothing, and answer with the same counts and errors.', {
      default: false,
    }),
  ),
});
const validateQuery = compileValidator(IngestQuery);

/** True for a dry run. Throws 422 for unknown parameters, so that a misspelt `dry_run` never writes. */
function readParameters(ctx: Context): boolean {
  const { query, errors } = readQuery(ctx, IngestQuery, validateQuery);
  errors.push(...readIdempotencyKey(ctx, false).errors);
  if (errors.length > 0) throw invalid(...errors);
  return query.dry_run as boolean;
}

/** The stream with its validation, but without writes. */
const withoutWrites = (stream: Stream): Stream => ({
  ...stream,
  write: async () => undefined,
  refresh: undefined,
});

/** The decompressed body. Not `stream.pipeline`, which destroys the connection that the response needs. */
function bodyOf({ req, headers }: Context, request: AdmittedRequest): AsyncIterable<Buffer> {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      try {
        if (bytes > INGEST_BODY_LIMIT) throw tooLarge();
        request.receive(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  const input = decoderOf(headers['content-encoding'], limit);
  req.pipe(input);
  const abort = () => limit.destroy(request.signal.reason as Error);
  request.signal.addEventListener('abort', abort, { once: true });
  req.once('close', () => {
    if (!req.complete) limit.destroy(new Problem('invalid_body', 'The body ended early.'));
  });
  limit.once('close', () => {
    request.signal.removeEventListener('abort', abort);
    req.unpipe(input);
    if (input !== limit) input.destroy();
  });
  return limit;
}

/** The stream to pipe the raw body into: `output`, behind a decoder where the body is compressed. */
function decoderOf(encoding: string | undefined, output: Transform): Transform {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return output;
  if (encoding !== 'gzip') {
    throw new Problem(
      'unsupported_media_type',
      `Send the records as they are, or gzip encoded; not ${JSON.stringify(encoding.slice(0, 64))}.`,
    );
  }
  const gunzip = createGunzip();
  gunzip.once('error', () => output.destroy(new Problem('invalid_body', 'The body is not valid gzip.')));
  gunzip.pipe(output);
  return gunzip;
}

/** Maps an error of the body to a Problem; returns any other error unchanged. */
function toProblem(error: unknown): unknown {
  if (error instanceof UnreadableInputError) return new Problem(error.code, error.message);
  return error;
}

function tooLarge(): Problem {
  return new Problem(
    'body_too_large',
    `A request may carry at most ${INGEST_BODY_LIMIT} bytes of records; send several.`,
  );
}
