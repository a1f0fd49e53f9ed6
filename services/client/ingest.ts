/** Records as requests of bounded size. */
import type { IngestQuery, StreamRecords } from './operations.js';
import type { FieldError } from './problems.js';
import type { Transport } from './transport.js';

/** Well below the 16 MiB that a gateway accepts, and answered in seconds. */
const REQUEST_BYTES: number = 4 * 1024 * 1024;
const REQUEST_RECORDS = 5000;
/** A request ends after so many. */
const MAX_REJECTED = 10_000;
/** Records of a slow source are sent after this time. */
const MAX_WAIT_MS = 500;
const NEWLINE = 10;
/** A result lists no more, so that its size does not grow with the input. */
const MAX_ERRORS = 1000;

export type StreamName = keyof StreamRecords;

type OrganizationField = 'organization_id' | 'organizationId';
/** A record of a stream. The organization of the key is filled in. */
export type RecordOf<Name extends StreamName> = Omit<StreamRecords[Name], OrganizationField> &
  Partial<Pick<StreamRecords[Name], OrganizationField & keyof StreamRecords[Name]>>;

/** A record, or one as JSON in UTF-8 without line feeds, which is sent as it is. */
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
  /** Accepted records with an amount of money that was rounded to 12 digits after the point. */
  rounded: number;
  /** Accepted contacts that were left out, because the person was erased. */
  suppressed: number;
  /** Accepted contacts and audiences without effect, because a newer record is there. */
  stale: number;
  /** Accepted records whose domain was none, and was left out. */
  invalid_domains: number;
  /** Accepted records of which the mapping left out values that are none, such as `#N/A`. */
  invalid_values: number;
  /** Accepted records whose unknown fields were left out; absent where they are rejected. */
  ignored?: number;
  /** Accepted contacts by whose they are; absent without `query.on_duplicate`. */
  created?: number;
  updated?: number;
  matched?: number;
  ambiguous?: number;
  /** Of each request the first 100, or all with `findEveryRejected`; 1 000 in all. */
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
  /** Called for each rejected record that an answer lists, in order. */
  onRejected?(rejected: RejectedRecord): void;
  /** Has answers list those beyond the first 100 of a request too; default false. */
  findEveryRejected?: boolean;
  /** Called after each request with the result so far: the records it counts are durable. */
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
  /** When the oldest record that waits is sent at the latest. */
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

/** The records, and a pause where the next one has not come at the time that `dueAt` tells. */
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
      // It may fail while a request is sent.
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
    // A generator ends once its next record has come, which may be never.
    const closed = Promise.resolve(iterator.return?.()).catch(() => undefined);
    if (pending === undefined) await closed;
  }
}

/** Undefined where it takes longer. */
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
