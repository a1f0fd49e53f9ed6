import { pipeline, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import { ingestLines } from '../../ingest/pipeline.js';
import type { Publisher } from '../../ingest/publisher.js';
import { UnreadableInput } from '../../ingest/sources/source.js';
import { findStream, STREAM_NAMES } from '../../ingest/streams/index.js';
import type { Clock } from '../shared/clock.js';
import { closest } from '../shared/closest.js';
import type { Stores } from '../stores/open-stores.js';
import { type Principal, requireScope } from './authenticate.js';
import type { Metrics } from './metrics.js';
import { Problem } from './problems.js';
import { requireMediaType } from './read-body.js';

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
  return async function intake(ctx: Context, principal: Principal, signal: AbortSignal): Promise<void> {
    requireScope(principal, 'ingest:write');
    const name = (ctx.params as { stream: string }).stream;
    const stream = findStream(name);
    if (!stream) throw streamNotFound(name);
    const type = requireMediaType(ctx, ['application/x-ndjson', 'application/json']);
    if (Number(ctx.get('Content-Length')) > INTAKE_LIMIT) throw tooLarge();
    const { accepted, rejected, errors } = await ingestLines({
      stream: publisher?.published(stream, signal) ?? stream,
      stores,
      source: bodyOf(ctx),
      format: type === 'application/json' ? 'json' : 'ndjson',
      organizationId: principal.organizationId,
      acceptedAt: clock.now(),
    }).catch((error: unknown) => {
      throw translate(error);
    });
    metrics.ingested.inc({ stream: name, outcome: 'accepted' }, accepted);
    metrics.ingested.inc({ stream: name, outcome: 'rejected' }, rejected);
    ctx.body = { stream: name, accepted, rejected, errors };
  };
}

function bodyOf(ctx: Context): AsyncIterable<Buffer> {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > INTAKE_LIMIT) done(tooLarge());
      else done(null, chunk);
    },
  });
  const encoding = ctx.get('Content-Encoding') || 'identity';
  const ended = () => {};
  if (encoding === 'identity') return pipeline(ctx.req, limit, ended);
  if (encoding !== 'gzip') {
    throw new Problem(
      'unsupported_media_type',
      `Send the records as they are, or gzip encoded; not ${JSON.stringify(encoding.slice(0, 64))}.`,
    );
  }
  const gunzip = createGunzip();
  gunzip.once('error', () => limit.destroy(new Problem('invalid_body', 'The body is not valid gzip.')));
  return pipeline(ctx.req, gunzip, limit, ended);
}

/** What went wrong with the body itself; anything else stays what it was. */
function translate(error: unknown): unknown {
  if (error instanceof UnreadableInput) return new Problem(error.code, error.message);
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET'
    ? new Problem('invalid_body', 'The body ended early.')
    : error;
}

function tooLarge(): Problem {
  return new Problem(
    'body_too_large',
    `A request may carry at most ${INTAKE_LIMIT} bytes of records; send several.`,
    {},
    { Connection: 'close' },
  );
}

function streamNotFound(name: string): Problem {
  const known = STREAM_NAMES;
  const guess = closest(name, known);
  const hint = guess === null ? `The streams are ${known.join(', ')}.` : `Did you mean ${guess}?`;
  return new Problem('stream_not_found', `There is no stream ${JSON.stringify(name.slice(0, 64))}. ${hint}`);
}
