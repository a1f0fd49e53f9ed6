import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, errors, SniffingTransport } from '@elastic/elasticsearch';
import type { ElasticsearchConfig } from '../../shared/config.js';
import { RejectedError, StoreTimeoutError, StoreUnavailableError } from '../../shared/store-errors.js';

type ClientOptions = ConstructorParameters<typeof Client>[0];

/** Below the time limit of an HTTP request, so that a slow search ends with its own error. */
const REQUEST_TIMEOUT_MS = 28_000;
/** Writes wait this long for the end of a reindex. */
const WRITE_BLOCK_TIMEOUT_MS = 20_000;
const WRITE_BLOCK_POLL_MS = 50;
const CONNECT_TIMEOUT_MS = 1500;
const RETRY_BACKOFF_SECONDS = 0.1;

/** The connection to the cluster. */
export class Cluster {
  readonly #client: Client;

  constructor(config: ElasticsearchConfig) {
    this.#client = new Client(clientOptions(config));
  }

  /**
   * Throws as `storeError`, or the reason of the signal. Pass the signal to the request too: it closes the connection, on which
   * the cluster cancels a search.
   */
  async run<T>(request: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await request(this.#client);
    } catch (error) {
      signal?.throwIfAborted();
      throw storeError(error);
    }
  }

  /** As `run`; waits while a reindex blocks writes. */
  async write<T>(request: (client: Client) => Promise<T>): Promise<T> {
    const expiresAt = Date.now() + WRITE_BLOCK_TIMEOUT_MS;
    for (;;) {
      try {
        return await request(this.#client);
      } catch (error) {
        if (!isBlocked(error) || Date.now() > expiresAt) throw storeError(error);
        await pause(WRITE_BLOCK_POLL_MS);
      }
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** Retries after fractions of a second, so that an outage is reported within two seconds. */
class FastRetryTransport extends SniffingTransport {
  constructor(options: ConstructorParameters<typeof SniffingTransport>[0]) {
    super({ ...options, retryBackoff: (_least, _most, attempt) => RETRY_BACKOFF_SECONDS * 2 ** attempt });
  }
}

function clientOptions({ nodes, apiKey, basic, caFile }: ElasticsearchConfig): ClientOptions {
  return {
    nodes,
    auth: apiKey ? { apiKey } : (basic ?? undefined),
    tls: caFile ? { ca: readFileSync(caFile) } : undefined,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Every write is a compare-and-set, so retries are safe.
    maxRetries: 2,
    Transport: FastRetryTransport,
    // Documents are validated before they are stored, and scanning a response takes longer than parsing it.
    disablePrototypePoisoningProtection: true,
    sniffOnStart: false,
    sniffOnConnectionFault: false,
    agent: { connect: { timeout: CONNECT_TIMEOUT_MS }, keepAliveTimeout: 30_000 } as never,
  };
}

/** The reason is for logs only. */
export const unavailable = (reason: string): StoreUnavailableError =>
  new StoreUnavailableError('search', { cause: new Error(reason) });

export interface ItemError {
  type?: string;
  reason?: string | null;
}

/**
 * Timed out: `StoreTimeoutError`. Status 400 or 413: `RejectedError`, as a retry would be rejected again. Any other status
 * (401, 403, 404, 409, 429, 5xx) and connection failures: `StoreUnavailableError`. Other errors are returned as they are.
 */
export function storeError(error: unknown): Error {
  if (error instanceof errors.TimeoutError) return new StoreTimeoutError('search', { cause: error });
  if (error instanceof errors.ResponseError) {
    const { statusCode } = error;
    return statusCode === 400 || statusCode === 413
      ? new RejectedError('Elasticsearch rejected the request', { cause: error })
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

/** Whether a write was rejected only because a reindex blocks the index. */
export function isBlockedItem(error: ItemError | null | undefined): boolean {
  return error?.type === 'cluster_block_exception';
}
