/** Records as requests of bounded size. */
import type { IngestQuery, StreamRecords } from './operations.js';
import type { FieldError } from './problems.js';
import type { Transport } from './transport.js';

/** Well below the 16 MiB that a gateway accepts, and answered in seconds. */
const REQUEST_BYTES: number = 4 * 1024 * 1024;
const REQUEST_RECORDS = 5000;
/** A result lists no more, so that its size does not grow with the input. */
const MAX_ERRORS = 1000;

export type StreamName = keyof StreamRecords;

type OrganizationField = 'organization_id' | 'organizationId';
/** A record of a stream. The organization of the key is filled in. */
export type RecordOf<Name extends StreamName> = Omit<StreamRecords[Name], OrganizationField> &
  Partial<Pick<StreamRecords[Name], OrganizationField & keyof StreamRecords[Name]>>;

export interface RejectedRecord extends FieldError {
  /** Position in the input, from 1. */
  line: number;
}

export interface IngestResult {
  accepted: number;
  rejected: number;
  /** Of each request the first 100, 1 000 in all. */
  errors: RejectedRecord[];
}

export interface IngestOptions {
  query?: IngestQuery;
  signal?: AbortSignal;
  /** Maximum bytes of one request before compression; default 4 MiB. A larger record is sent alone. */
  requestBytes?: number;
  /** Maximum records of one request; default 5 000. */
  requestRecords?: number;
  /** Called after each request with the result so far: the records it counts are durable. */
  onProgress?(result: Readonly<IngestResult>): void;
}

export async function sendRecords(
  { send }: Transport,
  stream: string,
  records: AsyncIterable<object> | Iterable<object>,
  { query, signal, onProgress, ...limits }: IngestOptions,
): Promise<IngestResult> {
  const { requestBytes = REQUEST_BYTES, requestRecords = REQUEST_RECORDS } = limits;
  const result: IngestResult = { accepted: 0, rejected: 0, errors: [] };
  const encoder = new TextEncoder();
  let lines: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let sent = 0;

  async function flush(): Promise<void> {
    if (lines.length === 0) return;
    const { body, headers } = await compress(new Blob(lines));
    const answer = await send<IngestResult>({
      method: 'POST',
      path: `/api/ingest/${encodeURIComponent(stream)}`,
      query,
      headers: { 'Content-Type': 'application/x-ndjson', ...headers },
      body,
      signal,
    });
    result.accepted += answer.accepted;
    result.rejected += answer.rejected;
    const listed = answer.errors.slice(0, MAX_ERRORS - result.errors.length);
    result.errors.push(...listed.map((error) => ({ ...error, line: error.line + sent })));
    sent += lines.length;
    lines = [];
    bytes = 0;
    onProgress?.(result);
  }

  for await (const record of records) {
    const line = encoder.encode(`${JSON.stringify(record)}\n`);
    if (bytes + line.length > requestBytes || lines.length >= requestRecords) await flush();
    lines.push(line);
    bytes += line.length;
  }
  await flush();
  return result;
}

async function compress(
  body: Blob,
): Promise<{ body: Uint8Array<ArrayBuffer>; headers: Record<string, string> }> {
  const isAvailable = typeof CompressionStream !== 'undefined';
  const stream = isAvailable ? body.stream().pipeThrough(new CompressionStream('gzip')) : body.stream();
  const bytes = new Uint8Array(
    await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
  );
  return { body: bytes, headers: isAvailable ? { 'Content-Encoding': 'gzip' } : {} };
}
