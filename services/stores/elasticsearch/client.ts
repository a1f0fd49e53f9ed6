import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, errors, SniffingTransport } from '@elastic/elasticsearch';
import type { ElasticsearchConfig } from '../../shared/config.js';
import { RejectedError, StoreTimeoutError, StoreUnavailableError } from '../../shared/store-errors.js';

type ClientOptions = ConstructorParameters<typeof Client>[0];

/** Below the time limit of a request, so that the search is ended by the cluster, with its own answer. */
const REQUEST_TIMEOUT_MS = 28_000;
/** How long writes wait while an index is switched for its rebuilt successor. */
const BLOCKED_MS = { pause: 50, most: 20_000 };
const CONNECT_TIMEOUT_MS = 1500;
const RETRY_SECONDS = 0.1;

/** The connection to the cluster. The only place that knows what its errors mean. */
export class Cluster {
  readonly #client: Client;

  constructor(config: ElasticsearchConfig) {
    this.#client = new Client(clientOptions(config));
  }

  /**
   * Throws `StoreUnavailableError` or `StoreTimeoutError` where the cluster cannot answer, `RejectedError` where it will not, and the reason of
   * the signal, which the request has to be given too: it closes the connection, on which the cluster cancels a search.
   */
  async run<T>(request: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await request(this.#client);
    } catch (error) {
      signal?.throwIfAborted();
      throw storeError(error);
    }
  }

  /** As `run`, and patient while an index takes no writes because it is being switched. */
  async write<T>(request: (client: Client) => Promise<T>): Promise<T> {
    const until = Date.now() + BLOCKED_MS.most;
    for (;;) {
      try {
        return await request(this.#client);
      } catch (error) {
        if (!isBlocked(error) || Date.now() > until) throw storeError(error);
        await pause(BLOCKED_MS.pause);
      }
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** Tries again after a moment, not after seconds: who asks is told within two whether the cluster is there. */
class FastRetryTransport extends SniffingTransport {
  constructor(options: ConstructorParameters<typeof SniffingTransport>[0]) {
    super({ ...options, retryBackoff: (_least, _most, attempt) => RETRY_SECONDS * 2 ** attempt });
  }
}

function clientOptions({ nodes, apiKey, basic, caFile }: ElasticsearchConfig): ClientOptions {
  return {
    nodes,
    auth: apiKey ? { apiKey } : (basic ?? undefined),
    tls: caFile ? { ca: readFileSync(caFile) } : undefined,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Every write says what it expects to find, so that sending it again does no harm.
    maxRetries: 2,
    Transport: FastRetryTransport,
    // What a document may hold is checked on its way in, and looking through every answer for it takes longer than to parse it.
    disablePrototypePoisoningProtection: true,
    sniffOnStart: false,
    sniffOnConnectionFault: false,
    agent: { connect: { timeout: CONNECT_TIMEOUT_MS }, keepAliveTimeout: 30_000 } as never,
  };
}

export interface ItemError {
  type?: string;
  reason?: string | null;
}

export function storeError(error: unknown): Error {
  if (error instanceof errors.TimeoutError) return new StoreTimeoutError('search', { cause: error });
  if (error instanceof errors.ResponseError) {
    const { statusCode } = error;
    return statusCode === 400 || statusCode === 413
      ? new RejectedError('Elasticsearch refused the request', { cause: error })
      : new StoreUnavailableError('search', { cause: error });
  }
  if (error instanceof errors.ElasticsearchClientError)
    return new StoreUnavailableError('search', { cause: error });
  return error as Error;
}

function isBlocked(error: unknown): boolean {
  if (!(error instanceof errors.ResponseError)) return false;
  return isBlockedItem((error.body as { error?: ItemError } | undefined)?.error);
}

/** Whether a write was refused only because its index is being switched. */
export function isBlockedItem(error: ItemError | null | undefined): boolean {
  return error?.type === 'cluster_block_exception';
}
