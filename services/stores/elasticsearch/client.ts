import { readFileSync } from 'node:fs';
import { Client, ClusterConnectionPool } from '@elastic/elasticsearch';
import { TimeSlice } from '../../shared/async.js';
import type { ElasticsearchConfig } from '../../shared/config.js';
import { retry } from '../../shared/retry.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import { type ItemError, requestError } from './errors.js';
import { ClusterTransport } from './transport.js';

type ClientOptions = ConstructorParameters<typeof Client>[0];

/** Timeout of a request, below the timeout of an HTTP request to Reachline, so that a slow search ends with its own error. */
const REQUEST_TIMEOUT_MS = 28_000;
const CONNECT_TIMEOUT_MS = 1500;
const KEEP_ALIVE_MS = 30_000;

const BULK_BYTES = 5_000_000;
const BULK_CONCURRENCY = 2;
/** Retries of a document that was rejected because of a full queue (429). */
const BULK_RETRIES = 4;
const BULK_RETRY_MS = 100;
/**
 * Limits of work that takes several requests, each of which may wait for a hung node. The client checks after `firstMs`, and then every
 * `thenMs`, whether a node hangs, and fails the work if a node does.
 */
const PATIENCE = { firstMs: 4000, thenMs: 250 };
const REFRESH_RETRY = { retries: 3, firstMs: 250, maxMs: 1000 };
const BULK_RESULT = ['errors', 'items.*.status', 'items.*.error'];

/** Action on one document of a bulk request, and the JSON of the document. A deletion has no JSON. */
export type BulkOperation = readonly [action: object, json?: string];

/** A copy of a shard failed. The cluster will soon exclude it. */
class UnrefreshedError extends StoreUnavailableError {
  constructor() {
    super('records', { cause: new Error('a copy of a shard was not refreshed') });
  }
}

/** The connection to the cluster. */
export class Cluster {
  /** Settings for indices that this client creates: shards and replicas. */
  readonly layout: Pick<ElasticsearchConfig, 'shards' | 'shardsPerOrganization' | 'replicas'>;
  readonly indexPrefix: string;
  readonly #client: Client;

  constructor(config: ElasticsearchConfig) {
    this.layout = config;
    this.indexPrefix = config.indexPrefix;
    this.#client = new Client(clientOptions(config));
  }

  /**
   * Throws the errors of `requestError`, or the reason of the signal. Callers pass the signal to the request too: closing the connection
   * makes the cluster cancel a search.
   */
  async run<T>(request: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await request(this.#client);
    } catch (error) {
      signal?.throwIfAborted();
      throw requestError(error);
    }
  }

  /**
   * Returns the result of work that takes several requests. Throws `StoreUnavailableError` if the work has taken 4 s and a node hangs.
   * Requests of the work may still be applied, even those sent later.
   */
  async failIfNodeHangs<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const check = () => {
        const isHung = (this.#client.transport as ClusterTransport).hasHungNode;
        if (isHung) reject(new StoreUnavailableError('records', { cause: new Error('a node hangs') }));
        else timer = setTimeout(check, PATIENCE.thenMs);
      };
      timer = setTimeout(check, PATIENCE.firstMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Writes in requests of bounded size. Calls `onFailed` with each document that the cluster rejected. */
  async bulk<Write>(
    index: string,
    writes: Iterable<Write>,
    toOperation: (write: Write) => BulkOperation,
    onFailed: (id: string, status: number, error: ItemError | null) => void,
  ): Promise<void> {
    await this.run((client) =>
      client.helpers.bulk<Write>({
        index,
        filter_path: BULK_RESULT,
        datasource: inSlices(writes),
        onDocument: (write) => toOperation(write) as never,
        flushBytes: BULK_BYTES,
        concurrency: BULK_CONCURRENCY,
        retries: BULK_RETRIES,
        wait: BULK_RETRY_MS,
        onDrop: ({ operation, status, error }) => {
          const [{ _id }] = Object.values(operation) as [{ _id: string }];
          onFailed(_id, status, error);
        },
      }),
    );
  }

  /** Makes writes searchable. Throws `StoreUnavailableError` if a copy of a shard would still return results without these writes. */
  async refresh(index: string | string[]): Promise<void> {
    const work = async () => {
      const { _shards } = await this.run((client) => client.indices.refresh({ index }));
      if ((_shards?.failed ?? 0) > 0) throw new UnrefreshedError();
    };
    await retry(REFRESH_RETRY, work, { isRetriable: (error) => error instanceof UnrefreshedError });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** Yields to other requests while it serializes the documents of one request. */
async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<T> {
  const slice = new TimeSlice();
  for (const item of items) {
    yield item;
    if (slice.shouldYield()) await slice.yieldToEventLoop();
  }
}

const clientOptions = ({ nodes, apiKey, basic, caFile }: ElasticsearchConfig): ClientOptions => ({
  nodes,
  auth: apiKey ? { apiKey } : (basic ?? undefined),
  tls: caFile ? { ca: readFileSync(caFile) } : undefined,
  requestTimeout: REQUEST_TIMEOUT_MS,
  // Every write is a compare-and-set, so retries are safe.
  maxRetries: 2,
  // This pool excludes an unresponsive node for a minute.
  ConnectionPool: ClusterConnectionPool,
  Transport: ClusterTransport,
  agent: { connect: { timeout: CONNECT_TIMEOUT_MS }, keepAliveTimeout: KEEP_ALIVE_MS } as never,
});
