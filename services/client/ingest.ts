/** Divides records into requests of bounded size. */
import type { IngestQuery, StreamRecords } from './operations.js';
import type { FieldError } from './problems.js';
import type { Transport } from './transport.js';

/** Well below the 16 MiB that a gateway accepts, so that a response comes within seconds. */
const REQUEST_BYTES: number = 4 * 1024 * 1024;
const REQUEST_RECORDS = 5000;
/** Number of rejected records after which a request ends. */
const MAX_REJECTED = 10_000;
/** Records of a slow source are sent after this many milliseconds. */
const MAX_WAIT_MS = 500;
const NEWLINE = 10;
/** Maximum errors in a result, so that its size does not grow with the input. */
const MAX_ERRORS = 1000;

export type StreamName = keyof StreamRecords;

type OrganizationField = 'organization_id' | 'organizationId';
/** A record of a stream. The gateway fills in the organization of the key. */
export type RecordOf<Name extends StreamName> = Omit<StreamRecords[Name], OrganizationField> &
  Partial<Pick<StreamRecords[Name], OrganizationField & keyof StreamRecords[Name]>>;

/** A record, or its JSON in UTF-8 without line feeds, which is sent unchanged. */
export type IngestRecord<Name extends StreamName> = RecordOf<Name> | Uint8Array;

export interface RejectedRecord extends FieldError {
  /** Position in the input, from 1. */
  line: number;
}

export interface IngestResult {
  accepted: number;
  rejected: number;
  /** Records that the mapping of `query.map` leaves out. */
  skipped: number;
  /** Accepted records with an amount that was rounded to 12 decimal places. */
  rounded: number;
  /** Accepted contacts that were not stored, because the person was erased. */
  suppressed: number;
  /** Accepted contacts and audiences without effect, because a newer record exists. */
  stale: number;
  /** Accepted records whose domain was not a domain, and was left out. */
  invalid_domains: number;
  /** Accepted records in which the mapping left out placeholders, such as `#N/A`. */
  invalid_values: number;
  /** Accepted records whose unknown fields were ignored; absent if unknown fields are rejected. */
  ignored?: number;
  /** Accepted contacts by kind of person; absent without `query.on_duplicate`. */
  created?: number;
  updated?: number;
  matched?: number;
  ambiguous?: number;
  /** The first 100 errors of each request, or all with `findEveryRejected`; at most 1 000 in total. */
  errors: RejectedRecord[];
}

const COUNTS = [
  'accepted',
  'rejected',
  'skipped',
  'rounded',
  'suppressed',
  'stale',
  'invalid_domains',
  'invalid_values',
  'ignored',
  'created',
  'updated',
  'matched',
  'ambiguous',
] as const satisfies (keyof IngestResult)[];

export interface IngestOptions {
  query?: IngestQuery;
  signal?: AbortSignal;
  /** Maximum bytes of one request before compression; default 4 MiB. A larger record is sent alone. */
  requestBytes?: number;
  /** Maximum records of one request; default 5 000. */
  requestRecords?: number;
  /** Called for each rejected record that a response lists, in order. */
  onRejected?(rejected: RejectedRecord): void;
  /** Makes responses list rejected records beyond the first 100 of a request; default false. */
  findEveryRejected?: boolean;
  /** Called after each request with the result so far. The records it counts are durable. */
  onProgress?(result: Readonly<IngestResult>): void;
}

export async function sendRecords(
  { send }: Transport,
  stream: string,
  records: AsyncIterable<object> | Iterable<object>,
  { query, signal, onRejected, findEveryRejected = false, onProgress, ...limits }: IngestOptions,
): Promise<IngestResult> {
  const { requestBytes = REQUEST_BYTES, requestRecords = REQUEST_RECORDS } = limits;
  const result: IngestResult = {
    accepted: 0,
    rejected: 0,
    skipped: 0,
    rounded: 0,
    suppressed: 0,
    stale: 0,
    invalid_domains: 0,
    invalid_values: 0,
    errors: [],
  };
  const encoder = new TextEncoder();
  let lines: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let sent = 0;
  /** Time at which the oldest waiting record is sent at the latest. */
  let dueAt = 0;

  async function post(batch: Uint8Array<ArrayBuffer>[]): Promise<IngestResult> {
    return send<IngestResult>({
      method: 'POST',
      path: `/api/ingest/${encodeURIComponent(stream)}`,
      query: findEveryRejected ? { ...query, max_errors: MAX_REJECTED } : query,
      headers: { 'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'gzip' },
      body: await gzip(new Blob(batch)),
      signal,
    });
  }

  async function flush(): Promise<void> {
    if (lines.length === 0) return;
    const answer = await post(lines);
    for (const error of answer.errors) {
      const rejected = { ...error, line: error.line + sent };
      if (result.errors.length < MAX_ERRORS) result.errors.push(rejected);
      onRejected?.(rejected);
    }
    for (const name of COUNTS) {
      const more = answer[name];
      if (more !== undefined) result[name] = (result[name] ?? 0) + more;
    }
    sent += lines.length;
    lines = [];
    bytes = 0;
    onProgress?.(result);
  }

  for await (const record of withPauses(records, () => (lines.length === 0 ? undefined : dueAt))) {
    if (record === PAUSE) {
      await flush();
      continue;
    }
    const line =
      record instanceof Uint8Array ? withNewline(record) : encoder.encode(`${JSON.stringify(record)}\n`);
    if (bytes + line.length > requestBytes || lines.length >= requestRecords) await flush();
    if (lines.length === 0) dueAt = performance.now() + MAX_WAIT_MS;
    lines.push(line);
    bytes += line.length;
  }
  await flush();
  return result;
}

const PAUSE: unique symbol = Symbol('pause');

/** The records, with a pause if the next record has not come by `dueAt`. */
async function* withPauses(
  records: AsyncIterable<object> | Iterable<object>,
  dueAt: () => number | undefined,
): AsyncGenerator<object | typeof PAUSE, void> {
  if (!(Symbol.asyncIterator in records)) {
    yield* records;
    return;
  }
  const iterator = records[Symbol.asyncIterator]();
  let pending: Promise<IteratorResult<object>> | undefined = iterator.next();
  try {
    for (;;) {
      // The source may fail while a request is being sent.
      pending.catch(() => undefined);
      const due = dueAt();
      const step = due === undefined ? await pending : await within(pending, due - performance.now());
      if (step === undefined) {
        yield PAUSE;
        continue;
      }
      pending = undefined;
      if (step.done) return;
      yield step.value;
      pending = iterator.next();
    }
  } finally {
    // A generator ends only once its next record has come, which may be never.
    const closed = Promise.resolve(iterator.return?.()).catch(() => undefined);
    if (pending === undefined) await closed;
  }
}

/** Undefined if the work takes longer. */
function within<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), Math.max(0, milliseconds));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function withNewline(text: Uint8Array): Uint8Array<ArrayBuffer> {
  if (text.includes(NEWLINE))
    throw new TypeError('A record in bytes is JSON on one line, without a line feed.');
  const line = new Uint8Array(text.length + 1);
  line.set(text);
  line[text.length] = NEWLINE;
  return line;
}

async function gzip(body: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const stream = body.stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
