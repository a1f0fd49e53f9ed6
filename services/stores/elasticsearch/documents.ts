/** Documents of one alias, written by compare-and-set on the version that was read. */
import { setTimeout as pause } from 'node:timers/promises';
import type { estypes } from '@elastic/elasticsearch';
import { KeyedMutex, Mutex, TimeSlice } from '../../shared/async.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { Cluster } from './client.js';
import { IndexMissingError, type ItemError, isBlockedItem, itemError } from './errors.js';
import { retryWithBackoff } from './retry.js';

/** A document with its version. `index` is the one that was read: sequence numbers are only comparable within an index. */
export interface VersionedDocument<Source> {
  id: string;
  index: string;
  source: Source;
  seqNo: number;
  primaryTerm: number;
}

export interface DocumentWrite {
  id: string;
  routing?: string;
  /** The document to index, as JSON; called again where it is sent again. */
  json(): string;
  /** The version it replaces; absent for a new document. */
  before?: VersionedDocument<unknown>;
}

/** Ids consist of letters, digits and `. _ : -`, so joining them with a slash is unambiguous. */
export function documentId(organizationId: string, id: string): string {
  return `${organizationId}/${id}`;
}

export type Refresh = 'wait_for' | false;

const BULK_BYTES = 5_000_000;
/** Of UTF-8, per UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3;
const BULK_CONCURRENCY = 2;
const BULK_RESULT = ['errors', 'items.*.status', 'items.*.error'];
/** Of documents that a full queue (429) turned away. */
const MAX_BUSY_ATTEMPTS = 4;
const MAX_BLOCKED_ATTEMPTS = 200;
const BLOCKED_RETRY_MS = 100;
const DOCUMENTS_PER_MGET = 1000;

interface GetResult {
  _index?: string;
  _id?: string;
  found?: boolean;
  _source?: unknown;
  _seq_no?: number;
  _primary_term?: number;
  error?: ItemError;
}

export class Documents<Source> {
  readonly #cluster: Cluster;
  readonly alias: string;
  /** Orders the writes of this process by document id. */
  readonly keyedMutex = new KeyedMutex();

  constructor(cluster: Cluster, alias: string) {
    this.#cluster = cluster;
    this.alias = alias;
  }

  /** The current document, searchable or not. Throws `IndexMissingError`. */
  async get(id: string, routing?: string, signal?: AbortSignal): Promise<VersionedDocument<Source> | null> {
    const response = await this.#cluster.run(
      (client) => client.get<Source>({ index: this.alias, id, routing }, { ignore: [404], signal }),
      signal,
    );
    if ((response as { error?: unknown }).error !== undefined) throw new IndexMissingError(this.alias);
    return toVersioned<Source>(response as GetResult);
  }

  /** By id, without the ids that have no document. Throws `IndexMissingError`. */
  async getMany(
    wanted: readonly { id: string; routing?: string }[],
    signal?: AbortSignal,
  ): Promise<Map<string, VersionedDocument<Source>>> {
    const found = new Map<string, VersionedDocument<Source>>();
    for (let start = 0; start < wanted.length; start += DOCUMENTS_PER_MGET) {
      const docs = wanted
        .slice(start, start + DOCUMENTS_PER_MGET)
        .map(({ id, routing }) => ({ _id: id, routing }));
      const { docs: items } = await this.#cluster.run(
        (client) => client.mget<Source>({ index: this.alias, docs }, { signal }),
        signal,
      );
      for (const item of items as GetResult[]) {
        if (item.error) throw new IndexMissingError(this.alias);
        const document = toVersioned<Source>(item);
        if (document) found.set(document.id, document);
      }
    }
    return found;
  }

  /** Null when a document with the id exists, which may be our own after a lost response. */
  async create<Next extends object>(
    id: string,
    document: Next,
    options: { routing?: string; refresh: Refresh },
  ): Promise<VersionedDocument<Next> | null> {
    const { statusCode, body } = await this.#cluster.write((client) =>
      client.create(
        { index: this.alias, id, document, require_alias: true, ...options },
        { ignore: [409], meta: true },
      ),
    );
    return statusCode === 409 ? null : written(id, document, body);
  }

  /** Null when the document has changed since it was read. */
  async replace<Next extends object>(
    before: VersionedDocument<unknown>,
    document: Next,
    options: { routing?: string; refresh: Refresh },
  ): Promise<VersionedDocument<Next> | null> {
    const { statusCode, body } = await this.#cluster.run((client) =>
      client.index(
        {
          index: before.index,
          id: before.id,
          document,
          if_seq_no: before.seqNo,
          if_primary_term: before.primaryTerm,
          ...options,
        },
        { ignore: [403, 404, 409], meta: true },
      ),
    );
    // 404: a reindex has replaced the index. 403: it is about to.
    if (statusCode === 409 || statusCode === 404) return null;
    if (statusCode === 403) {
      const { error } = body as { error?: ItemError };
      if (!isBlockedItem(error)) throw itemError(403, error);
      await pause(BLOCKED_RETRY_MS);
      return null;
    }
    return written(before.id, document, body);
  }

  /** Resolves once searches find this version of the document. */
  async waitUntilSearchable(found: VersionedDocument<unknown>, routing?: string): Promise<void> {
    const searched = (await this.#cluster.run((client) =>
      client.get(
        { index: found.index, id: found.id, routing, realtime: false, _source: false },
        { ignore: [404] },
      ),
    )) as GetResult;
    if ((searched._seq_no ?? -1) >= found.seqNo) return;
    await this.#cluster.run((client) => client.indices.refresh({ index: this.alias }));
  }

  /** Changes a document by compare-and-set; does nothing when there is none. */
  async update(id: string, change: (source: Source) => Source & object): Promise<void> {
    await retryWithBackoff(async () => {
      const found = await this.get(id);
      if (!found) return true;
      return (await this.replace(found, change(found.source), { refresh: 'wait_for' })) ? true : undefined;
    });
  }

  async refresh(): Promise<void> {
    await this.#cluster.run((client) => client.indices.refresh({ index: this.alias }));
  }

  /** As `deleteMany`, of documents that were read. */
  deleteVersions(documents: readonly (VersionedDocument<Source> & { routing: string })[]): Promise<number> {
    return this.deleteMany(
      documents.map(({ id, index, seqNo, primaryTerm, routing }) => ({
        _id: id,
        _index: index,
        _seq_no: seqNo,
        _primary_term: primaryTerm,
        _routing: routing,
      })),
    );
  }

  /** Deletes the documents of hits, except those changed since; resolves with how many. */
  async deleteMany(hits: readonly estypes.SearchHit<Source>[]): Promise<number> {
    let kept = 0;
    let failure: Error | undefined;
    const textOf = (hit: estypes.SearchHit<Source>) => `${JSON.stringify({ delete: versionOf(hit) })}\n`;
    await this.#bulk(hits, textOf, (_, status, error) => {
      if (status === 409 || status === 404) kept++;
      else failure ??= itemError(status, error);
    });
    if (failure) throw failure;
    return hits.length - kept;
  }

  /** Searches every shard or throws: no partial results. */
  search(request: estypes.SearchRequest, signal?: AbortSignal): Promise<estypes.SearchResponse<Source>> {
    const complete = {
      index: this.alias,
      track_total_hits: true,
      allow_partial_search_results: false,
      ...request,
    };
    return this.#cluster.run((client) => client.search<Source>(complete, { signal }), signal);
  }

  /** All hits, `size` per page; `sort` must be a total order. */
  async *pages(
    request: estypes.SearchRequest & { size: number },
  ): AsyncGenerator<estypes.SearchHit<Source>[], void> {
    for (let last: estypes.SortResults | undefined; ; ) {
      const { hits } = (await this.search({ track_total_hits: false, ...request, search_after: last })).hits;
      yield hits;
      if (hits.length < request.size) return;
      last = hits.at(-1)?.sort;
    }
  }

  /**
   * Writes documents in bulk requests of bounded size, retrying those that a full queue (429) or a write block turned away.
   * Resolves with the ids in conflict with another write, which were not written. Throws `IndexMissingError`, `RejectedError` for
   * a document the mapping rejects, and `StoreUnavailableError`; the other documents may be written then.
   */
  async writeMany(changes: readonly DocumentWrite[]): Promise<Set<string>> {
    const conflicts = new Set<string>();
    let pending = changes;
    for (let attempts = 0; pending.length > 0; attempts++) {
      const retried: DocumentWrite[] = [];
      let sawBlock = false;
      let failure: Error | undefined;
      await this.#bulk(pending, writeText, (write, status, error) => {
        const { id, before } = write;
        const isBlocked = isBlockedItem(error);
        sawBlock ||= isBlocked;
        // A replaced document is read again: a reindex may have moved the alias.
        if (status === 409 || (before && (status === 404 || isBlocked))) conflicts.add(id);
        else if (isBlocked || (status === 429 && attempts < MAX_BUSY_ATTEMPTS)) retried.push(write);
        else if (status === 404) failure ??= new IndexMissingError(this.alias);
        else failure ??= itemError(status, error);
      });
      if (failure) throw failure;
      if (attempts >= MAX_BLOCKED_ATTEMPTS) throw new StoreUnavailableError('search');
      if (sawBlock || retried.length > 0) await pause(BLOCKED_RETRY_MS);
      pending = retried;
    }
    return conflicts;
  }

  /**
   * Sends bulk requests of bounded size, and calls `onFailed` with each write that the cluster turned away. The bulk helper of the
   * library asks for full results, of which nothing is read, and counts the bytes of every line.
   */
  async #bulk<Write>(
    writes: readonly Write[],
    textOf: (write: Write) => string,
    onFailed: (write: Write, status: number, error?: ItemError) => void,
  ): Promise<void> {
    const parts = await serializeMutex.runExclusive(() => serializeParts(writes, textOf));
    const remaining = parts.values();
    const send = async () => {
      // One sender that throws ends the parts for all.
      for (const part of remaining) {
        const { errors, items } = await this.#cluster.run((client) =>
          client.bulk({ index: this.alias, filter_path: BULK_RESULT, operations: part.body as never }),
        );
        if (!errors) continue;
        for (const [index, item] of items.entries()) {
          const [result] = Object.values(item);
          if (result && result.status >= 400)
            onFailed(part.writes[index] as Write, result.status, result.error);
        }
      }
    };
    const sent = await Promise.allSettled(Array.from({ length: BULK_CONCURRENCY }, send));
    for (const each of sent) if (each.status === 'rejected') throw each.reason;
  }
}

const versionOf = <Source>({ _index, _id, _routing, _seq_no, _primary_term }: estypes.SearchHit<Source>) => ({
  _index,
  _id,
  routing: _routing,
  if_seq_no: _seq_no,
  if_primary_term: _primary_term,
});

/** The body of a bulk request, and what it writes. */
interface BulkPart<Write> {
  writes: Write[];
  body: Buffer;
}

/** Serializes one bulk at a time, so that the first is sent while the second is serialized. */
const serializeMutex = new Mutex();
/** Each text becomes bytes at once: garbage collection would copy twice those that wait to be sent. */
const serialized = Buffer.allocUnsafeSlow(BULK_BYTES);

async function serializeParts<Write>(
  all: readonly Write[],
  textOf: (write: Write) => string,
): Promise<BulkPart<Write>[]> {
  const slice = new TimeSlice();
  const parts: BulkPart<Write>[] = [];
  let writes: Write[] = [];
  let end = 0;
  const flush = () => {
    if (writes.length > 0) parts.push({ writes, body: Buffer.from(serialized.subarray(0, end)) });
    writes = [];
    end = 0;
  };
  for (const write of all) {
    const text = textOf(write);
    const maxBytes = text.length * MAX_BYTES_PER_CHARACTER;
    if (end + maxBytes > serialized.length) flush();
    if (maxBytes > serialized.length) parts.push({ writes: [write], body: Buffer.from(text) });
    else {
      end += serialized.write(text, end);
      writes.push(write);
    }
    if (slice.shouldYield()) await slice.yieldToEventLoop();
  }
  flush();
  return parts;
}

const writeText = (write: DocumentWrite): string => `${JSON.stringify(action(write))}\n${write.json()}\n`;

function action({ id, routing, before }: DocumentWrite) {
  return before
    ? {
        index: {
          _index: before.index,
          _id: id,
          routing,
          if_seq_no: before.seqNo,
          if_primary_term: before.primaryTerm,
        },
      }
    : { create: { _id: id, routing, require_alias: true } };
}

function toVersioned<Source>(item: GetResult): VersionedDocument<Source> | null {
  if (!item.found) return null;
  return {
    id: item._id as string,
    index: item._index as string,
    source: item._source as Source,
    seqNo: item._seq_no as number,
    primaryTerm: item._primary_term as number,
  };
}

function written<Next>(
  id: string,
  source: Next,
  response: estypes.WriteResponseBase,
): VersionedDocument<Next> {
  const { _index: index, _seq_no: seqNo = 0, _primary_term: primaryTerm = 0 } = response;
  return { id, index, source, seqNo, primaryTerm };
}
