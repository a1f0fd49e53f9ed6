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

/** Bytes of records a request may carry, after decompression. */
export const INTAKE_LIMIT = 16 * 1024 * 1024;

/**
 * `POST /api/ingest/{stream}`: the body's records go through the same pipeline as those of every other source, to their store or,
 * where there is a publisher, to the topic of their stream.
 */
export function createIntake(
  stores: Pick<Stores, 'search' | 'analytics'>,
  publisher: Publisher | undefined,
  metrics: Metrics,
  clock: Clock,
) {
  const accept = acceptanceClock(clock);
  return async function intake(ctx: Context, principal: Principal, request: AdmittedRequest): Promise<void> {
    requireScope(principal, 'ingest:write');
    const name = (ctx.params as { stream: string }).stream;
    const stream = findStream(name);
    if (!stream) throw new Problem('stream_not_found', unknownStream(name));
    const dryRun = readParameters(ctx);
    const type = requireMediaType(ctx, ['application/x-ndjson', 'application/json']);
    if (Number(ctx.get('Content-Length')) > INTAKE_LIMIT) throw tooLarge();
    sendContinue(ctx);
    const { accepted, rejected, errors } = await ingestLines({
      stream: dryRun ? unwritten(stream) : (publisher?.toKafka(stream, request.signal) ?? stream),
      stores,
      source: bodyOf(ctx, request),
      format: type === 'application/json' ? 'json' : 'ndjson',
      organizationId: principal.organizationId,
      acceptance: accept(),
      signal: request.signal,
    }).catch((error: unknown) => {
      throw translate(error);
    });
    const answer = { stream: name, accepted, rejected, errors };
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

/** Whether it is a dry run. Throws 422 for parameters the route does not have, so that a misspelt one never writes. */
function readParameters(ctx: Context): boolean {
  const { query, errors } = readQuery(ctx, IngestQuery, validateQuery);
  errors.push(...readIdempotencyKey(ctx, false).errors);
  if (errors.length > 0) throw invalid(...errors);
  return query.dry_run as boolean;
}

/** The stream with its rules, and without anything that writes. */
const unwritten = (stream: Stream): Stream => ({
  ...stream,
  write: async () => undefined,
  refresh: undefined,
});

/** The bytes of the body, decompressed. Piped by hand, as `pipeline` destroys the connection that the answer has to take. */
function bodyOf({ req, headers }: Context, request: AdmittedRequest): AsyncIterable<Buffer> {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      try {
        if (bytes > INTAKE_LIMIT) throw tooLarge();
        request.receive(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  const input = decoderOf(headers['content-encoding'], limit);
  req.pipe(input);
  const giveUp = () => limit.destroy(request.signal.reason as Error);
  request.signal.addEventListener('abort', giveUp, { once: true });
  req.once('close', () => {
    if (!req.complete) limit.destroy(new Problem('invalid_body', 'The body ended early.'));
  });
  limit.once('close', () => {
    request.signal.removeEventListener('abort', giveUp);
    req.unpipe(input);
    if (input !== limit) input.destroy();
  });
  return limit;
}

/** What the bytes as sent are written to. */
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

/** What went wrong with the body itself; anything else stays what it was. */
function translate(error: unknown): unknown {
  if (error instanceof UnreadableInputError) return new Problem(error.code, error.message);
  return error;
}

function tooLarge(): Problem {
  return new Problem(
    'body_too_large',
    `A request may carry at most ${INTAKE_LIMIT} bytes of records; send several.`,
  );
}
