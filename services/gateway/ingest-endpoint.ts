import { PassThrough, Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import { DeadLetterCollector } from '../../ingest/dead-letter-collector.js';
import type { Mapping } from '../../ingest/mapping/mapping.js';
import { MAX_NAME_LENGTH, type StoredMapping } from '../../ingest/mapping/stored-mappings.js';
import { type IngestResult, ingestText } from '../../ingest/pipeline.js';
import type { Publisher } from '../../ingest/publisher.js';
import { UnreadableInputError } from '../../ingest/records/raw-record.js';
import { ColumnsError } from '../../ingest/sources/csv.js';
import type { TextFormat } from '../../ingest/sources/text.js';
import { decompressZstd, ZstdError } from '../../ingest/sources/zstd.js';
import { findStream, unknownStream } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { requireMediaType, sendContinue } from '../http/body.js';
import { readIdempotencyKey } from '../http/idempotency.js';
import { type Principal, requireScope } from '../http/principal.js';
import { invalid, Problem } from '../http/problems.js';
import { readQuery } from '../http/query-string.js';
import { didYouMean } from '../shared/did-you-mean.js';
import { acceptanceClock, type OrderedRecord } from '../shared/record-order.js';
import { boolean, strictObject, stringEnum, Type } from '../shared/schema.js';
import type { UnknownFields } from '../shared/settings.js';
import type { Clock } from '../shared/time.js';
import { compileValidator } from '../shared/validation.js';
import type { Stores } from '../stores/open-stores.js';
import type { AdmittedRequest } from './admission.js';
import type { Metrics } from './metrics.js';
import type { RequestState } from './request-state.js';

/** Maximum bytes of records per request, before and after decompression. */
export const INGEST_BODY_LIMIT = 16 * 1024 * 1024;

/** Media types of the body. */
export const INGEST_FORMATS: Readonly<Record<string, TextFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
};

/** Records that a dry run shows. */
const MAX_SAMPLES = 3;

/** Some seconds of work for the largest body in the smallest blocks. */
const ZSTD_LIMITS = { maxWindowBytes: 8 * 1024 * 1024, maxMovedBytes: 16 * 1024 ** 3 };

/**
 * `POST /api/ingest/{stream}`: sends the records of the body through the ingest pipeline, to their store or, with a publisher, to the
 * Kafka topic of their stream. Throws a Problem when the request as a whole is rejected.
 */
export function createIngestEndpoint(
  stores: Pick<Stores, 'search' | 'analytics'>,
  publisher: Publisher | undefined,
  metrics: Metrics,
  clock: Clock,
  settings: { mappings: ReadonlyMap<string, StoredMapping>; unknownFields: UnknownFields },
) {
  const acceptance = acceptanceClock(clock);
  return async function ingest(ctx: Context, principal: Principal, request: AdmittedRequest): Promise<void> {
    requireScope(principal, 'ingest:write');
    const name = (ctx.params as { stream: string }).stream;
    const stream = findStream(name);
    if (!stream) throw new Problem('stream_not_found', unknownStream(name));
    const { dryRun, onReject, map, unknownFields = settings.unknownFields } = readParameters(ctx);
    const mapping = map === undefined ? undefined : findMapping(settings.mappings, map, stream);
    const format = INGEST_FORMATS[requireMediaType(ctx, Object.keys(INGEST_FORMATS))] as TextFormat;
    if (Number(ctx.get('Content-Length')) > INGEST_BODY_LIMIT) throw tooLarge();
    sendContinue(ctx);
    const order = acceptance();
    const kept =
      onReject === 'keep' && !dryRun
        ? new DeadLetterCollector(name, principal.organizationId, order, map)
        : undefined;
    const ingestInto = (destination: Stream, source: AsyncIterable<Buffer>) =>
      ingestText({
        stream: destination,
        stores,
        source,
        format,
        mapping,
        unknownFields,
        organizationId: principal.organizationId,
        acceptance: order,
        onRejected: (record, _, raw) => kept?.add(record, raw),
        onOverlong: (piece) => kept?.addPiece(piece),
        signal: request.signal,
      }).catch((error: unknown) => {
        throw toProblem(error);
      });
    const count = ({ accepted, rejected }: IngestResult) => {
      metrics.ingested.inc({ stream: name, outcome: 'accepted' }, accepted);
      metrics.ingested.inc({ stream: name, outcome: 'rejected' }, rejected);
    };
    let body = bodyOf(ctx, request);
    if (onReject === 'fail') {
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      body = Readable.from(chunks);
      const result = await ingestInto(withoutWrites(stream), Readable.from(chunks));
      if (result.rejected > 0) {
        if (!dryRun) count({ ...result, accepted: 0 });
        throw recordsRejected(result);
      }
    }
    const samples: { line: number; record: object }[] = [];
    const written = dryRun
      ? withoutWrites(stream, ({ record, sequence }) => {
          if (samples.length < MAX_SAMPLES) samples.push({ line: sequence - order.sequence, record });
        })
      : (publisher?.toKafka(stream, request.signal) ?? stream);
    const result = await ingestInto(written, body);
    if (!dryRun) count(result);
    if (kept && result.rejected > 0) await stores.search.keepDeadLetters(kept.letters);
    if (onReject === 'fail' && result.rejected > 0) throw recordsRejected(result);
    const json = JSON.stringify({
      stream: name,
      ...result,
      ...(dryRun && { dry_run: true, records: samples }),
    });
    // Koa loads Node's fetch, which takes 12 to 19 ms, to set an object as the body.
    (ctx.state as RequestState).answer = { json, bytes: Buffer.byteLength(json) };
  };
}

/** Throws 422 for an unknown name, and for a mapping of another stream. */
function findMapping(mappings: ReadonlyMap<string, StoredMapping>, name: string, stream: Stream): Mapping {
  const found = mappings.get(name);
  const rejected = (detail: string) => invalid({ pointer: '?map', code: 'unknown_mapping', detail });
  if (found === undefined) {
    const hint = didYouMean(name, [...mappings.keys()]);
    throw rejected(`There is no mapping ${JSON.stringify(name)}. ${hint}`.trimEnd());
  }
  if (found.stream === stream) return found.mapping;
  throw rejected(`The mapping ${JSON.stringify(name)} is for ${found.stream.name}.`);
}

/** `accepted` is above 0 where only the store could reject a record. */
const recordsRejected = ({ accepted, rejected, errors }: IngestResult) =>
  new Problem(
    'records_rejected',
    accepted === 0
      ? `${rejected} records were rejected, so none was accepted; see errors.`
      : `The store rejected ${rejected} records; the others are accepted, and sending them again changes nothing.`,
    { rejected, errors },
  );

/** The query parameters of the route. */
export const IngestQuery = strictObject({
  dry_run: Type.Optional(
    boolean(
      'Check every record, write nothing, and answer with the same counts and errors, and with the first records as they would be written.',
      {
        default: false,
      },
    ),
  ),
  on_reject: Type.Optional(
    stringEnum(
      'What becomes of a rejected record: `keep` keeps it for `reachline dead-letters`; `drop` only names it in the answer; `fail` accepts none of the others either, and answers 422 `records_rejected`.',
      ['keep', 'drop', 'fail'],
      { default: 'keep' },
    ),
  ),
  unknown_fields: Type.Optional(
    stringEnum(
      'What becomes of fields that the stream does not have: `reject` rejects the record; `ignore` leaves them out and counts the record in `ignored`. What the server is set to when absent.',
      ['reject', 'ignore'],
    ),
  ),
  map: Type.Optional(
    Type.String({
      description:
        'Name of a mapping that turns the records of another tool into records of the stream: a preset, or a file of the folder `REACHLINE_MAPPINGS`.',
      minLength: 1,
      maxLength: MAX_NAME_LENGTH,
      examples: ['crm-contacts'],
    }),
  ),
});
const validateQuery = compileValidator(IngestQuery);

interface IngestParameters {
  dryRun: boolean;
  onReject: 'keep' | 'drop' | 'fail';
  map?: string;
  unknownFields?: UnknownFields;
}

/** Throws 422 for unknown parameters, so that a misspelt `dry_run` never writes. */
function readParameters(ctx: Context): IngestParameters {
  const { query, errors } = readQuery(ctx, IngestQuery, validateQuery);
  errors.push(...readIdempotencyKey(ctx, false).errors);
  if (errors.length > 0) throw invalid(...errors);
  const { dry_run: dryRun, on_reject: onReject, unknown_fields: unknownFields, map } = query;
  return { dryRun, onReject, unknownFields, map } as IngestParameters;
}

/** The stream with its validation, but without writes. */
const withoutWrites = (stream: Stream, onRecord?: (record: OrderedRecord<object>) => void): Stream => ({
  ...stream,
  write: async (_, records) => {
    for (const record of records) onRecord?.(record);
  },
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
  let compressedBytes = 0;
  // Compressed bytes may hold no content, without end.
  const countCompressed = (chunk: Buffer) => {
    compressedBytes += chunk.length;
    if (compressedBytes > INGEST_BODY_LIMIT) limit.destroy(tooLarge());
  };
  req.on('data', countCompressed);
  req.pipe(input);
  const abort = () => limit.destroy(request.signal.reason as Error);
  request.signal.addEventListener('abort', abort, { once: true });
  req.once('close', () => {
    if (!req.complete) limit.destroy(new Problem('invalid_body', 'The body ended early.'));
  });
  limit.once('close', () => {
    request.signal.removeEventListener('abort', abort);
    req.off('data', countCompressed);
    req.unpipe(input);
    if (input !== limit) input.destroy();
  });
  return limit;
}

/** The stream to pipe the raw body into: `output`, behind a decoder where the body is compressed. */
function decoderOf(encoding: string | undefined, output: Transform): Transform {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return output;
  if (encoding === 'zstd') return zstdInto(output);
  if (encoding !== 'gzip') {
    throw new Problem(
      'unsupported_media_type',
      `Send the records as they are, or gzip or zstd encoded; not ${JSON.stringify(encoding.slice(0, 64))}.`,
    );
  }
  const gunzip = createGunzip();
  gunzip.once('error', () => output.destroy(new Problem('invalid_body', 'The body is not valid gzip.')));
  gunzip.pipe(output);
  return gunzip;
}

function zstdInto(output: Transform): Transform {
  const compressed = new PassThrough();
  const content = Readable.from(decompressZstd(compressed, ZSTD_LIMITS), { objectMode: false });
  content.once('error', (error) => {
    const cause =
      error instanceof ZstdError
        ? new Problem('invalid_body', `The body is zstd encoded, but ${error.message}.`)
        : error;
    output.destroy(cause);
  });
  output.once('close', () => content.destroy());
  content.pipe(output);
  return compressed;
}

/** Maps an error of the body to a Problem; returns any other error unchanged. */
function toProblem(error: unknown): unknown {
  if (error instanceof ColumnsError) {
    const errors = error.message.split('\n').map((detail) => ({ pointer: '', code: 'columns', detail }));
    return invalid(...errors);
  }
  if (error instanceof UnreadableInputError) return new Problem(error.code, error.message);
  return error;
}

function tooLarge(): Problem {
  return new Problem(
    'body_too_large',
    `A request may carry at most ${INGEST_BODY_LIMIT} bytes of records; send several.`,
  );
}
