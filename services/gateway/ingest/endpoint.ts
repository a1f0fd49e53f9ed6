/** `POST /api/ingest/{stream}`: sends the records of the body through the ingest pipeline. */
import { SampledWrites, withoutWrites } from '../../../ingest/check/sampled-writes.js';
import { compileMapping } from '../../../ingest/mapping/compile.js';
import type { Mapping } from '../../../ingest/mapping/mapping.js';
import { MappingError, parseMappingFile } from '../../../ingest/mapping/mapping-file.js';
import { rootOf } from '../../../ingest/mapping/path.js';
import type { StoredMapping } from '../../../ingest/mapping/stored-mappings.js';
import {
  emptyResult,
  IngestLimitError,
  type IngestLimits,
  type IngestOptions,
  type IngestResult,
  ingestText,
  type PresetChoice,
  type RejectedRecord,
} from '../../../ingest/pipeline.js';
import { AUTO } from '../../../ingest/presets/recognize.js';
import type { Publisher } from '../../../ingest/publisher.js';
import { parseJson } from '../../../ingest/records/parse-json.js';
import { orderOf, type RawRecord } from '../../../ingest/records/raw-record.js';
import type { PeopleResolver } from '../../../ingest/resolve-people.js';
import { ColumnsError } from '../../../ingest/sources/csv.js';
import { replayable } from '../../../ingest/sources/replayable.js';
import type { ColumnUse, TextFormat } from '../../../ingest/sources/text.js';
import { findStream, STREAM_NAMES, unknownStream } from '../../../ingest/streams/index.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { withImport } from '../../../ingest/streams/with-import.js';
import { requireAudience } from '../../audiences/endpoints.js';
import { type BodySource, endpointsWith, type HandlerContext, type ParsedBody } from '../../http/endpoint.js';
import { invalid, Problem } from '../../http/problems.js';
import { REJECTION_LIMITS, type Rejection, rejectionId } from '../../rejections/rejection-store.js';
import { didYouMean } from '../../shared/did-you-mean.js';
import { isId } from '../../shared/ids.js';
import { type Acceptance, acceptedByLine } from '../../shared/record-order.js';
import { strictObject, stringEnum } from '../../shared/schema.js';
import type { UnknownFields } from '../../shared/settings.js';
import { StoreError } from '../../shared/store-errors.js';
import type { Clock } from '../../shared/time.js';
import type { Stores } from '../../stores/open-stores.js';
import type { Metrics } from '../metrics.js';
import { formatOf, readIngestBody } from './body.js';
import {
  invalidMapping,
  recordsRejected,
  STILL_WRITTEN,
  tooManyRejected,
  toProblem,
  withOutcome,
} from './problems.js';
import { inTurn, peopleOf, peopleScope, Reading, requireContacts } from './reading-query.js';
import { describeRecords } from './record-schemas.js';
import { INGEST_LIMITS, IngestQuery, IngestResponse } from './result-schema.js';
import { openUpload, type Upload } from './upload.js';

export interface IngestServices extends Pick<Stores, 'records' | 'analytics'>, Pick<Metrics, 'ingested'> {
  clock: Clock;
  /** Publishes records to the Kafka topic of their stream. If absent, records are written to their store. */
  publisher?: Publisher;
  mappings: ReadonlyMap<string, StoredMapping>;
  /** Value for requests without `unknown_fields`. */
  unknownFields: UnknownFields;
  /** Scopes of the API key of the request. */
  scopes: ReadonlySet<string>;
  /** Called with an unexpected error while decoding a record. */
  onFault?(error: unknown): void;
  /** Assigns the order of the records of one request. Throws `StoreUnavailableError` while the process cannot assign orders. */
  acceptance(): Promise<Acceptance>;
}

export const ingest = endpointsWith<IngestServices>()({
  path: '/api/ingest/{stream}',
  params: strictObject({
    stream: stringEnum('Stream of the records.', STREAM_NAMES, { examples: ['contacts'] }),
  }),
  name: 'Ingest',
  operationId: 'ingest',
  summary: 'Ingest records of a stream',
  description:
    'The body has one JSON record per line, a JSON array or object, CSV, or an XLSX workbook. It may have 1 GiB (JSON arrays 16 MiB), and may be compressed with gzip or zstd. `multipart/form-data` holds such a file as its last part, `file`, after the part `mapping`, which says how the records of the file become records of the stream, as JSON of at most 256 KiB. Accepted records are durable when the response arrives. Rejected records are listed by line. They stop the other records only with `on_reject=fail`, or once there are 10 000. With `Accept: application/x-ndjson`, the response is lines: `{"line", "accepted", "rejected"}` while records are processed, then this response or a problem. Every record up to `line` is accepted or rejected, so a broken upload can continue after it.',
  tag: 'Ingest',
  scope: ['ingest:write'],
  queryScope: (query) => [
    ...peopleScope(query),
    ...(query.audience_id === undefined ? [] : ['audiences:write' as const]),
  ],
  source: { read: readIngestBody, describe: describeRecords },
  hasProgress: true,
  request: strictObject({}),
  query: IngestQuery,
  response: IngestResponse,
  example: {},
  problems: ['stream_not_found', 'audience_not_found', 'records_rejected'],
  async handle(context) {
    const { stream: name } = context.params;
    const stream = findStream(name as string);
    if (!stream) throw new Problem('stream_not_found', unknownStream(name as string));
    const { import_id: importId, audience_id: audienceId } = context.query;
    if (importId !== undefined) requireContacts(stream, 'import_id');
    if (audienceId !== undefined) {
      requireContacts(stream, 'audience_id');
      await requireAudience(context.services.records, context.organizationId, audienceId, context);
    }
    const upload = await openUpload(context.source as BodySource, ['mapping']);
    try {
      return await ingestUpload(withImport(stream, { importId, audienceId }), upload, context);
    } finally {
      upload.close();
    }
  },
});

async function ingestUpload(stream: Stream, upload: Upload, context: Ingestion['context']) {
  const { query, services, signal } = context;
  const { format, chunks } = await formatOf(upload);
  const ingestion: Ingestion = {
    stream,
    format,
    reading: new Reading(query, context.source?.charset),
    isBeside: upload.parts.has('mapping'),
    mapping: mappingOf(upload, query.map, services.mappings, stream),
    acceptance: query.dry_run ? acceptedByLine(services.clock) : await services.acceptance(),
    context,
    texts: query.rejected_text ? new RejectedTexts() : undefined,
  };
  const samples = new SampledWrites();
  const destination = query.dry_run
    ? samples.into(stream)
    : (services.publisher?.toKafka(stream, signal) ?? stream);
  const { result, limit, columns, people, kept } = await inTurn(format, context.organizationId, signal, () =>
    POLICIES[query.on_reject](ingestion, chunks, destination),
  );
  if (!query.dry_run) {
    services.ingested.inc({ stream: stream.name, outcome: 'accepted' }, result.accepted);
    services.ingested.inc({ stream: stream.name, outcome: 'rejected' }, result.rejected);
  }
  if (limit !== undefined) throw tooManyRejected(result);
  if (query.on_reject === 'fail' && result.rejected > 0) throw recordsRejected(result);
  return {
    stream: stream.name,
    ...result,
    ...(kept === false && { kept }),
    ...(ingestion.texts && { rejected_records: ingestion.texts.records }),
    ...(query.dry_run && {
      dry_run: true,
      records: samples.records,
      columns,
      matches: people?.matches,
      proposed: ingestion.reading.proposed,
    }),
  };
}

/** An ingest request: its stream, and how its records are read. */
interface Ingestion {
  stream: Stream;
  format: TextFormat;
  reading: Reading;
  mapping: Mapping | PresetChoice | undefined;
  /** Whether the mapping came with the file. */
  isBeside: boolean;
  acceptance: Acceptance;
  /** Collects the text of rejected records, if the request asks for it. */
  texts: RejectedTexts | undefined;
  context: HandlerContext<unknown, ParsedBody<typeof IngestQuery>, IngestServices>;
}

/** Outcome of the records up to the end, or up to a limit. */
interface Outcome {
  result: IngestResult;
  limit?: keyof IngestLimits;
  /** Use of each column, if the body is CSV. */
  columns?: ColumnUse[];
  people?: PeopleResolver | undefined;
  /** Whether the rejections are stored for operators. */
  kept?: boolean;
}

/** How a request handles rejected records, by `on_reject`. `destination` writes the accepted records. */
type RejectPolicy = (
  ingestion: Ingestion,
  body: AsyncIterable<Uint8Array>,
  destination: Stream,
) => Promise<Outcome>;

const POLICIES: Record<'keep' | 'drop' | 'fail', RejectPolicy> = {
  drop: (ingestion, body, destination) => ingestInto(ingestion, body, destination),
  async keep(ingestion, body, destination) {
    const { organizationId, query, services } = ingestion.context;
    if (query.dry_run) return ingestInto(ingestion, body, destination);
    const kept: Rejection[] = [];
    // The valid records are accepted already: if a failure made clients send them again, each attempt would append them to their topic.
    const keep = async () => {
      try {
        if (kept.length > 0) await services.records.keepRejections(organizationId, kept);
        return true;
      } catch (error) {
        if (error instanceof StoreError) return false;
        throw error;
      }
    };
    const onRejected: IngestOptions['onRejected'] = (rejected, _, raw) => {
      if (kept.length < REJECTION_LIMITS.records) kept.push(rejectionOf(ingestion, rejected, raw));
    };
    try {
      const outcome = await ingestInto(ingestion, body, destination, { onRejected });
      return { ...outcome, kept: await keep() };
    } catch (error) {
      await keep();
      throw error;
    }
  },
  async fail(ingestion, body, destination) {
    const { temporarySpace, expectedBytes } = ingestion.context.source as BodySource;
    const held = await replayable(body, temporarySpace, expectedBytes).catch((error: unknown) => {
      throw toProblem(error);
    });
    try {
      const checked = await ingestInto(ingestion, held.read(), withoutWrites(ingestion.stream), {
        isCheck: true,
      });
      if (checked.limit !== undefined || checked.result.rejected > 0) {
        return { ...checked, result: { ...checked.result, accepted: 0 } };
      }
      return await ingestInto(ingestion, held.read(), destination);
    } finally {
      await held.close();
    }
  },
};

interface IngestIntoOptions extends Pick<IngestOptions, 'onRejected'> {
  /** Whether `destination` writes nothing. */
  isCheck?: boolean;
}

async function ingestInto(
  { stream, format, reading, mapping, isBeside, acceptance, context, texts }: Ingestion,
  source: AsyncIterable<Uint8Array>,
  destination: Stream,
  { onRejected, isCheck = context.query.dry_run }: IngestIntoOptions = {},
): Promise<Outcome> {
  const { organizationId, query, services, signal } = context;
  const people = peopleOf(stream, query, services.records);
  let columns: ColumnUse[] | undefined;
  const result = emptyResult();
  const withCounts = <T>(error: T, note?: string) => (isCheck ? error : withOutcome(error, result, note));
  (context.source as BodySource).atDeadline((problem) => withCounts(problem, STILL_WRITTEN));
  const ingested = ingestText({
    stream: destination,
    stores: services,
    source,
    format,
    reading: reading.options,
    mapping,
    declared: reading.declared,
    people,
    unknownFields: (query.unknown_fields as UnknownFields | undefined) ?? services.unknownFields,
    organizationId,
    acceptance,
    signal,
    onRejected(rejected, untouched, raw) {
      texts?.add(rejected, untouched);
      onRejected?.(rejected, untouched, raw);
    },
    onFault: services.onFault,
    onProgress: isCheck
      ? undefined
      : (accepted, rejected, line) => context.onProgress?.({ line, accepted, rejected }),
    result,
    limits: INGEST_LIMITS,
    maxErrors: query.max_errors,
    onColumns: (found) => {
      columns = found;
      if (isBeside && mapping && 'marks' in mapping) requireMarks(mapping, found);
    },
  });
  try {
    return { result: await ingested, columns, people };
  } catch (error) {
    if (error instanceof IngestLimitError) return { result: error.result, limit: error.limit };
    throw withCounts(reading.withProposed(toProblem(error)));
  }
}

const REJECTED_TEXTS = { records: 1000, bytes: 1024 * 1024 };

/** Collects the first rejected records as the client sent them. */
class RejectedTexts {
  readonly #records: (Omit<RejectedRecord, 'code'> & { text: string })[] = [];
  #bytes = 0;

  add({ line, pointer, detail }: RejectedRecord, untouched: Buffer): void {
    this.#bytes += untouched.length;
    if (this.#records.length >= REJECTED_TEXTS.records || this.#bytes > REJECTED_TEXTS.bytes) return;
    this.#records.push({ line, text: untouched.toString('utf8'), pointer, detail });
  }

  /** Records in the order of their lines, because stores reject later than the decoder. */
  get records() {
    return this.#records.sort((a, b) => a.line - b.line);
  }
}

/** The rejection to store, without the values of the record, because the sender has these values. */
function rejectionOf(
  { stream, acceptance, context }: Ingestion,
  { line, code, pointer }: RejectedRecord,
  raw: RawRecord,
): Rejection {
  const { acceptedAt, sequence } = acceptance.at(orderOf(raw));
  const parsed = raw.overlong ? undefined : parseJson(raw.bytes);
  const value = raw.mapped ?? raw.value ?? (parsed && 'value' in parsed ? parsed.value : undefined);
  const { contact_id, id = contact_id } = (value ?? {}) as { contact_id?: unknown; id?: unknown };
  return {
    id: rejectionId(acceptedAt, sequence),
    organization_id: context.organizationId,
    stream: stream.name,
    line,
    code,
    // The name of an unknown field is text of the sender, so the pointer leaves the name out.
    pointer: code === 'unknown_field' ? pointer.replace(/\/[^/]*$/, '') : pointer,
    rejected_at: new Date(acceptedAt).toISOString(),
    sequence,
    // Text that is not an identifier may be an address, and so a value of the record.
    record_id: typeof id === 'string' && isId(id) ? id : null,
  };
}

/** Throws `ColumnsError` if the table lacks a column that marks the mapping: then the file is not the file that was checked. */
function requireMarks({ marks }: Mapping, columns: readonly ColumnUse[]): void {
  const names = new Set(columns.map(({ column }) => column.toLowerCase()));
  const missing = marks.filter(
    (mark) =>
      ![mark].flat().some((name) => names.has(name.toLowerCase()) || names.has(rootOf(name).toLowerCase())),
  );
  if (missing.length === 0) return;
  const listed = missing.map((mark) => JSON.stringify([mark].flat()[0])).join(', ');
  throw new ColumnsError(
    `The file has no column ${listed}, by which its mapping is recognized. Check this file again before loading it.`,
  );
}

/** The mapping that comes with the file, or the mapping that the request names. Throws 422. */
function mappingOf(
  { parts }: Upload,
  name: string | undefined,
  mappings: ReadonlyMap<string, StoredMapping>,
  stream: Stream,
): Mapping | PresetChoice | undefined {
  const text = parts.get('mapping');
  if (text === undefined) {
    if (name === undefined) return undefined;
    if (name === AUTO) return { preset: name };
    const found = findMapping(mappings, name, stream);
    return found.preset === undefined ? found.mapping : { preset: found.preset };
  }
  if (name !== undefined) {
    const detail = 'Give either map or the part mapping.';
    throw invalid({ pointer: '?map', code: 'mapping', detail });
  }
  try {
    return compileMapping(parseMappingFile(text), stream);
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    throw invalidMapping(error);
  }
}

/** Throws 422 for an unknown name, and for a mapping of another stream. */
export function findMapping(
  mappings: ReadonlyMap<string, StoredMapping>,
  name: string,
  stream: Stream,
): StoredMapping {
  const found = mappings.get(name);
  const rejected = (detail: string) => invalid({ pointer: '?map', code: 'unknown_mapping', detail });
  if (found === undefined) {
    const ofStream = [...mappings].flatMap(([each, { stream: its }]) => (its === stream ? [each] : []));
    const ofSource = ofStream.find((each) => didYouMean(name, each.split('/').slice(0, 1)) !== '');
    const hint =
      didYouMean(name, [...mappings.keys()]) ||
      (ofSource && `Did you mean ${ofSource}?`) ||
      `Mappings of ${stream.name} are ${[AUTO, ...ofStream].join(', ')}.`;
    throw rejected(`There is no mapping ${JSON.stringify(name)}. ${hint}`);
  }
  if (found.stream === stream) return found;
  throw rejected(`The mapping ${JSON.stringify(name)} is for ${found.stream.name}.`);
}
