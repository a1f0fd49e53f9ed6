/** Documents of one alias, written by compare-and-set on the version that was read. */
import type { estypes } from '@elastic/elasticsearch';
import DataLoader from 'dataloader';
import { KeyedMutex } from '../../shared/async.js';
import { throwIfBlocked } from './blocks.js';
import type { BulkOperation, Cluster } from './client.js';
import { BlockedError, IndexMissingError, type ItemError, itemError } from './errors.js';
import { retryWhileBlocked, retryWithBackoff } from './retry.js';

/**
 * A document with its version. `index` is the index from which the document was read, because sequence numbers are only comparable within
 * an index.
 */
export interface VersionedDocument<Source> {
  id: string;
  index: string;
  routing?: string;
  source: Source;
  seqNo: number;
  primaryTerm: number;
}

export interface DocumentWrite {
  id: string;
  routing?: string;
  /** Returns the document to index, as JSON. Called again for each retry. */
  json(): string;
  /** The version to replace; absent for a new document. */
  before?: VersionedDocument<unknown>;
}

/** Joins two ids with a slash. This is unambiguous, because ids consist of letters, digits and `. _ : -`. */
export function documentId(organizationId: string, id: string): string {
  return `${organizationId}/${id}`;
}

export type Refresh = 'wait_for' | false;

const DOCUMENTS_PER_MGET = 1000;
const DOCUMENTS_PER_CREATION = 200;

interface Wanted {
  id: string;
  routing?: string;
}

/** Response to a creation; null if a document with the id exists. */
type Created = estypes.WriteResponseBase | null;

interface NewDocument extends Wanted {
  document: object;
}

interface GetResult {
  _index?: string;
  _id?: string;
  _routing?: string;
  found?: boolean;
  _source?: unknown;
  _seq_no?: number;
  _primary_term?: number;
  error?: ItemError;
}

/** Batches loads: runs all loads of one event-loop turn together, at most `maxBatchSize` at a time. Nothing is cached. */
const batched = <Key, Value>(
  maxBatchSize: number,
  batch: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
): DataLoader<Key, Value> =>
  new DataLoader(batch, { cache: false, maxBatchSize, batchScheduleFn: (run) => setImmediate(run) });

export class Documents<Source> {
  readonly #cluster: Cluster;
  readonly #gets: DataLoader<Wanted, VersionedDocument<Source> | null>;
  readonly #creates: Record<'shown' | 'hidden', DataLoader<NewDocument, Created>>;
  readonly alias: string;
  /** Orders the writes of this process by document id. */
  readonly keyedMutex = new KeyedMutex();

  constructor(cluster: Cluster, alias: string) {
    this.#cluster = cluster;
    this.alias = alias;
    this.#gets = batched(DOCUMENTS_PER_MGET, (wanted: readonly Wanted[]) => this.#getTogether(wanted));
    const creates = (refresh: Refresh) =>
      batched(DOCUMENTS_PER_CREATION, (documents: readonly NewDocument[]) =>
        this.#createTogether(documents, refresh),
      );
    this.#creates = { shown: creates('wait_for'), hidden: creates(false) };
  }

  /** Reads the current document, even if searches do not find it yet. Throws `IndexMissingError`. */
  get(id: string, routing?: string, signal?: AbortSignal): Promise<VersionedDocument<Source> | null> {
    return signal ? this.#get(id, routing, signal) : this.#gets.load({ id, routing });
  }

  async #getTogether(wanted: readonly Wanted[]): Promise<(VersionedDocument<Source> | null | Error)[]> {
    const [only, ...others] = wanted as readonly [Wanted, ...Wanted[]];
    if (others.length === 0) return [await this.#get(only.id, only.routing)];
    const docs = wanted.map(({ id, routing }) => ({ _id: id, routing }));
    const { docs: items } = await this.#cluster.run((client) =>
      client.mget<Source>({ index: this.alias, docs }),
    );
    return Promise.all(
      (items as GetResult[]).map((item, index) => {
        if (!item.error) return versioned<Source>(item);
        const { id, routing } = wanted[index] as Wanted;
        return this.#get(id, routing).catch((error: Error) => error);
      }),
    );
  }

  async #get(
    id: string,
    routing: string | undefined,
    signal?: AbortSignal,
  ): Promise<VersionedDocument<Source> | null> {
    const response = await this.#cluster.run(
      (client) => client.get<Source>({ index: this.alias, id, routing }, { ignore: [404], signal }),
      signal,
    );
    if ((response as { error?: unknown }).error !== undefined) throw new IndexMissingError(this.alias);
    return versioned<Source>(response as GetResult);
  }

  /** Reads documents by id. Ids without a document are left out. Throws `IndexMissingError`. */
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
      for (const [index, item] of (items as GetResult[]).entries()) {
        const { id, routing } = wanted[start + index] as Wanted;
        // Requests the document alone: if its shard failed, this request either returns the document after all, or fails with its own
        // error.
        const document = item.error ? await this.#get(id, routing, signal) : versioned<Source>(item);
        if (document) found.set(document.id, document);
      }
    }
    return found;
  }

  /** Creates a document; null if a document with the id exists, which may be our own after a lost response. */
  async create<Next extends object>(
    id: string,
    document: Next,
    options: { routing?: string; refresh: Refresh },
  ): Promise<VersionedDocument<Next> | null> {
    const { routing, refresh } = options;
    const creates = refresh ? this.#creates.shown : this.#creates.hidden;
    const body = await retryWhileBlocked(this.#cluster, () => creates.load({ id, document, routing }));
    return body && written(id, document, body);
  }

  async #createTogether(documents: readonly NewDocument[], refresh: Refresh): Promise<(Created | Error)[]> {
    const index = this.alias;
    const [only, ...others] = documents as readonly [NewDocument, ...NewDocument[]];
    if (others.length === 0) {
      const { statusCode, body } = await this.#cluster.run((client) =>
        client.create({ index, require_alias: true, refresh, ...only }, { ignore: [409], meta: true }),
      );
      return [statusCode === 409 ? null : body];
    }
    const operations = documents.flatMap(({ id, routing, document }) => [
      { create: { _id: id, routing, require_alias: true } },
      document,
    ]);
    const { items } = await this.#cluster.run((client) => client.bulk({ index, refresh, operations }));
    return items.map(({ create }) => {
      if (create?.status === 409) return null;
      return create && !create.error
        ? (create as estypes.WriteResponseBase)
        : itemError(create?.status, create?.error);
    });
  }

  /**
   * Replaces a document; null if the document has changed since it was read, or if a reindex moves it. The caller must then read the
   * document again.
   */
  async replace<Next extends object>(
    before: VersionedDocument<unknown>,
    document: Next,
    options: { routing?: string; refresh: Refresh },
  ): Promise<VersionedDocument<Next> | null> {
    const indexed = this.#cluster.run((client) =>
      client.index(
        {
          index: before.index,
          id: before.id,
          document,
          if_seq_no: before.seqNo,
          if_primary_term: before.primaryTerm,
          ...options,
        },
        { ignore: [404, 409], meta: true },
      ),
    );
    const response = await indexed.catch(async (error: unknown) => {
      if (!(error instanceof BlockedError)) throw error;
      await throwIfBlocked(this.#cluster, error);
      return null;
    });
    if (!response || response.statusCode === 409 || response.statusCode === 404) return null;
    return written(before.id, document, response.body);
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
    await this.#cluster.refresh(this.alias);
  }

  /** Changes a document by compare-and-set, unless `change` returns null. Resolves with false if there is no document. */
  update(
    id: string,
    change: (source: Source) => (Source & object) | null,
    { refresh = 'wait_for' }: { refresh?: Refresh } = {},
  ): Promise<boolean> {
    return retryWithBackoff(async () => {
      const found = await this.get(id);
      if (!found) return false;
      const changed = change(found.source);
      return changed === null || (await this.replace(found, changed, { refresh })) ? true : undefined;
    });
  }

  async refresh(): Promise<void> {
    await this.#cluster.refresh(this.alias);
  }

  /** Deletes documents, except documents that changed since they were read. Resolves with the number of deleted documents. */
  async deleteMany(read: readonly VersionedDocument<unknown>[]): Promise<number> {
    let kept = 0;
    let failure: Error | undefined;
    await this.#cluster.bulk(this.alias, read, deletion, (_, status, error) => {
      if (status === 409 || status === 404) kept++;
      else failure ??= itemError(status, error);
    });
    if (failure) throw failure;
    return read.length - kept;
  }

  /** Searches every shard or throws; results are never partial. */
  search(request: estypes.SearchRequest, signal?: AbortSignal): Promise<estypes.SearchResponse<Source>> {
    const complete = {
      index: this.alias,
      track_total_hits: true,
      allow_partial_search_results: false,
      ...request,
    };
    return this.#cluster.run((client) => client.search<Source>(complete, { signal }), signal);
  }

  /** Yields all hits, `size` per page. `sort` must be a total order. */
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
   * Writes documents in bulk requests of bounded size. Resolves with the ids of documents that were not written because of another write or
   * a reindex. Throws `IndexMissingError`, `RejectedError` for a document that the mapping rejects, and `StoreUnavailableError`; other
   * documents may then be written.
   */
  async writeMany(changes: readonly DocumentWrite[]): Promise<Set<string>> {
    const conflicts = new Set<string>();
    let pending = new Map(changes.map((change) => [change.id, change]));
    await retryWhileBlocked(this.#cluster, async () => {
      const blocked = new Map<string, DocumentWrite>();
      let isMoved = false;
      let failure: Error | undefined;
      let isRefused = false;
      await this.#cluster.bulk(this.alias, pending.values(), operation, (id, status, reason) => {
        const write = pending.get(id) as DocumentWrite;
        const error = itemError(status, reason);
        const isBlocked = error instanceof BlockedError;
        isMoved ||= isBlocked && write.before !== undefined;
        if (status === 409 || (write.before && (status === 404 || isBlocked))) conflicts.add(id);
        else if (isBlocked) blocked.set(id, write);
        else failure ??= status === 404 ? new IndexMissingError(this.alias) : error;
        isRefused ||= status === 429;
      });
      // The client's bulk helper does not report the reason of a 429: a full disk or a full queue.
      if (isRefused) await throwIfBlocked(this.#cluster, failure);
      if (failure) throw failure;
      if (isMoved) await throwIfBlocked(this.#cluster);
      if (blocked.size === 0) return;
      pending = blocked;
      throw new BlockedError('records');
    });
    return conflicts;
  }
}

/** The version of a hit from a search with `seq_no_primary_term`. */
export const versionOfHit = <Source>(hit: estypes.SearchHit<Source>): VersionedDocument<Source> => ({
  id: hit._id as string,
  index: hit._index,
  routing: hit._routing,
  source: hit._source as Source,
  seqNo: hit._seq_no as number,
  primaryTerm: hit._primary_term as number,
});

const deletion = ({ id, index, routing, seqNo, primaryTerm }: VersionedDocument<unknown>): BulkOperation => [
  { delete: { _index: index, _id: id, routing, if_seq_no: seqNo, if_primary_term: primaryTerm } },
];

function operation({ id, routing, before, json }: DocumentWrite): BulkOperation {
  if (!before) return [{ create: { _id: id, routing, require_alias: true } }, json()];
  const { index, seqNo, primaryTerm } = before;
  const version = { if_seq_no: seqNo, if_primary_term: primaryTerm };
  return [{ index: { _index: index, _id: id, routing, ...version } }, json()];
}

function versioned<Source>(item: GetResult): VersionedDocument<Source> | null {
  if (!item.found) return null;
  return {
    id: item._id as string,
    index: item._index as string,
    routing: item._routing,
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
