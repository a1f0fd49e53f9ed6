/** The client: one method for every operation, typed by its path. */
import { checkedExport, countedType } from './export.js';
import {
  type IngestOptions,
  type IngestRecord,
  type IngestResult,
  type StreamName,
  sendRecords,
} from './ingest.js';
import { OPERATION_FACTS } from './operation-facts.js';
import type { Operations } from './operations.js';
import { createTransport, type TransportOptions, wait } from './transport.js';

export type OperationPath = keyof Operations;
type Body<Path extends OperationPath> = Operations[Path]['request'];
/** The body of an operation. The client fills in its organization. */
export type RequestOf<Path extends OperationPath> = Omit<Body<Path>, 'organization_id'> & {
  organization_id?: string | null;
};
export type ResponseOf<Path extends OperationPath> = Operations[Path]['response'];

type Facts = typeof OPERATION_FACTS;
/** Operations that return a page of a list, by cursor or by number. */
export type PagedPath = {
  [Path in keyof Facts & OperationPath]: Facts[Path] extends { list: keyof ResponseOf<Path> } ? Path : never;
}[keyof Facts & OperationPath];
type ListField<Path extends PagedPath> = Facts[Path]['list'];
export type ItemOf<Path extends PagedPath> = ResponseOf<Path>[ListField<Path> &
  keyof ResponseOf<Path>] extends readonly (infer Item)[]
  ? Item
  : never;

/** The last two are the lists of people and of companies that network_a takes as an upload; only exports of contacts have these forms. */
const EXPORT_TYPES = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  'network-a-contacts': 'text/csv; profile=network-a-contacts',
  'network-a-companies': 'text/csv; profile=network-a-companies',
} as const;
/** Pause before the next page while a job of the server brings changes into the feed. */
const JOB_POLL_MS = 1000;

export type ExportFormat = keyof typeof EXPORT_TYPES;
/** The body of an operation without its paging fields. */
export type ExportRequestOf<Path extends PagedPath> = Omit<
  RequestOf<Path>,
  'limit' | 'cursor' | 'page' | 'page_size'
> & { organization_id?: string | null };

export interface Export {
  /** Number of matches when the export began. Rows may come and go meanwhile. */
  total: number;
  /** Fails with a ConnectionError if the export ends early. */
  stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /**
   * Number of rows that the server wrote, once the whole stream has arrived; null if an older server does not count. Rejects if the stream
   * fails.
   */
  rows: Promise<number | null>;
}

/** A changed contact. `cursor` continues the feed, and may repeat changes of the same page; undefined on the first page. */
export type FeedChange = ResponseOf<'/api/contacts/changes'>['changes'][number] & {
  cursor: string | undefined;
};

export interface ClientOptions extends TransportOptions {
  /** By default, the organization of the key, which the first request reads. */
  organizationId?: string;
}

export interface CallOptions<Path extends OperationPath> {
  query?: Operations[Path]['query'];
  signal?: AbortSignal;
  /** By default, a new key for each call, so that retries take effect once. */
  idempotencyKey?: string;
}

/** The API key in use. */
export interface KeyDescription {
  key_id: string;
  organization_id: string;
  scopes: string[];
}

/**
 * Every method throws ReachlineProblem, ConnectionError, and the reason of an aborted signal. The first two have `outcomeUnknown`, which is
 * true if the request may have written something.
 */
export interface Client {
  /** Calls an operation. */
  call<Path extends OperationPath>(
    path: Path,
    body: RequestOf<Path>,
    options?: CallOptions<Path>,
  ): Promise<ResponseOf<Path>>;
  /** Every page, from the page that `body` names, by default the first. */
  pages<Path extends PagedPath>(
    path: Path,
    body: RequestOf<Path>,
    options?: Pick<CallOptions<Path>, 'signal'>,
  ): AsyncGenerator<ResponseOf<Path>, void, undefined>;
  /** The items of all pages, one by one. */
  items<Path extends PagedPath>(
    path: Path,
    body: RequestOf<Path>,
    options?: Pick<CallOptions<Path>, 'signal'>,
  ): AsyncGenerator<ItemOf<Path>, void, undefined>;
  /**
   * Changed contacts, until the feed reaches the present; with `pollMs`, without end. Throws ReachlineProblem `cursor_expired` if the feed
   * must be read from the beginning.
   */
  changes(
    body: RequestOf<'/api/contacts/changes'>,
    options?: Pick<CallOptions<'/api/contacts/changes'>, 'signal'> & { pollMs?: number },
  ): AsyncGenerator<FeedChange, void, undefined>;
  /** All matches as one stream of CSV or NDJSON. If the stream does not fail, it is complete. */
  export<Path extends PagedPath>(
    path: Path,
    body: ExportRequestOf<Path>,
    format: ExportFormat,
    options?: Pick<CallOptions<Path>, 'signal'>,
  ): Promise<Export>;
  /** Sends records in requests of bounded size, one after another. Sending the same records again changes nothing. */
  ingest<Name extends StreamName>(
    stream: Name,
    records: AsyncIterable<IngestRecord<Name>> | Iterable<IngestRecord<Name>>,
    options?: IngestOptions,
  ): Promise<IngestResult>;
  describeKey(options?: { signal?: AbortSignal }): Promise<KeyDescription>;
}

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options);
  const describeKey = ({ signal }: { signal?: AbortSignal } = {}) =>
    transport.send<KeyDescription>({ method: 'GET', path: '/api/key', signal });
  let known = options.organizationId;
  /** A key belongs to one organization, so it is read once. */
  const organization = async (signal?: AbortSignal): Promise<string> => {
    known ??= (await describeKey({ signal })).organization_id;
    return known;
  };

  async function call<Path extends OperationPath>(
    path: Path,
    body: RequestOf<Path>,
    { query, signal, idempotencyKey = randomKey() }: CallOptions<Path> = {},
  ): Promise<ResponseOf<Path>> {
    return transport.send<ResponseOf<Path>>({
      method: 'POST',
      path,
      query,
      writes: 'writes' in factsOf(path),
      // Read-only operations ignore it.
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: await complete(body, signal),
      signal,
    });
  }

  const complete = async (body: { organization_id?: string | null }, signal: AbortSignal | undefined) =>
    JSON.stringify({ ...body, organization_id: body.organization_id ?? (await organization(signal)) });

  async function exportAll<Path extends PagedPath>(
    path: Path,
    body: ExportRequestOf<Path>,
    format: ExportFormat,
    { signal }: Pick<CallOptions<Path>, 'signal'> = {},
  ): Promise<Export> {
    const response = await transport.open({
      method: 'POST',
      path,
      headers: { 'Content-Type': 'application/json', Accept: countedType(EXPORT_TYPES[format]) },
      body: await complete(body, signal),
      signal,
    });
    const total = Number(response.headers.get('X-Total-Count'));
    return { total, ...checkedExport(response, { timeoutMs: options.timeoutMs, signal }) };
  }

  async function* pages<Path extends PagedPath>(
    path: Path,
    body: RequestOf<Path>,
    { signal }: Pick<CallOptions<Path>, 'signal'> = {},
  ): AsyncGenerator<ResponseOf<Path>, void, undefined> {
    const list = listFieldOf(path);
    let next: object | undefined = {};
    while (next) {
      const page: ResponseOf<Path> = await call(path, { ...body, ...next }, { signal });
      yield page;
      next = nextPage(page, list);
    }
  }

  async function* items<Path extends PagedPath>(
    path: Path,
    body: RequestOf<Path>,
    paging: Pick<CallOptions<Path>, 'signal'> = {},
  ): AsyncGenerator<ItemOf<Path>, void, undefined> {
    const list = listFieldOf(path);
    for await (const page of pages(path, body, paging)) {
      yield* (page as Record<string, unknown>)[list] as readonly ItemOf<Path>[];
    }
  }

  async function* changes(
    { cursor, from, ...rest }: RequestOf<'/api/contacts/changes'>,
    { signal, pollMs }: { signal?: AbortSignal; pollMs?: number } = {},
  ): AsyncGenerator<FeedChange, void, undefined> {
    let at = cursor ?? undefined;
    for (;;) {
      const body = at === undefined ? { ...rest, from } : { ...rest, cursor: at };
      const page = await call('/api/contacts/changes', body, { signal });
      const last = page.changes.length - 1;
      for (const [index, change] of page.changes.entries()) {
        yield { ...change, cursor: index === last ? page.next_cursor : at };
      }
      at = page.next_cursor;
      if (!page.more && pollMs === undefined) return;
      if (!page.more || last < 0) await wait(pollMs ?? JOB_POLL_MS, signal);
    }
  }

  return {
    call,
    pages,
    items,
    changes,
    export: exportAll,
    ingest: (stream, records, ingestOptions = {}) => sendRecords(transport, stream, records, ingestOptions),
    describeKey,
  };
}

interface Page {
  next_cursor?: string | null;
  page?: number;
  limit?: number;
  page_size?: number;
  total_count?: number;
}

const factsOf = (path: string): object =>
  Object.hasOwn(OPERATION_FACTS, path) ? OPERATION_FACTS[path as keyof Facts] : {};

/** The field that contains the list. Throws TypeError for an operation without a list. */
function listFieldOf(path: string): string {
  const { list } = factsOf(path) as { list?: string };
  if (list === undefined) throw new TypeError(`${path} answers no list.`);
  return list;
}

/** Fields that the request for the next page adds; undefined after the last page. */
function nextPage(response: object, list: string): object | undefined {
  const { next_cursor, page = 1, limit, page_size = limit ?? 0, total_count = 0 } = response as Page;
  if ('next_cursor' in response) return next_cursor === null ? undefined : { cursor: next_cursor };
  return page * page_size < total_count && (response as Record<string, unknown[]>)[list]?.length
    ? { page: page + 1 }
    : undefined;
}

/** A random idempotency key. `crypto.randomUUID` is absent on pages that came over plain HTTP. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
