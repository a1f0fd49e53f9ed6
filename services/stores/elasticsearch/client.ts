import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, SniffingTransport } from '@elastic/elasticsearch';
import type { ElasticsearchConfig } from '../../shared/config.js';
import { BufferingConnection } from './connection.js';
import { isBlocked, storeError } from './errors.js';
import { ResponseParser } from './response-parser.js';

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

type RequestArguments = Parameters<SniffingTransport['request']>;

/** Retries after fractions of a second, so that an outage is reported within two seconds. */
class FastRetryTransport extends SniffingTransport {
  constructor(options: ConstructorParameters<typeof SniffingTransport>[0]) {
    super({
      ...options,
      openTelemetry: { enabled: false },
      retryBackoff: (_least, _most, attempt) => RETRY_BACKOFF_SECONDS * 2 ** attempt,
    });
  }

  /**
   * Takes the body out of the library's result object. That object is freed by full garbage collections alone, because its literal
   * has a getter, for which V8 creates a hidden class per object; with the body, every page would wait for one.
   */
  override async request(...[params, options]: RequestArguments): Promise<never> {
    const result = await super.request(params, { ...options, meta: true });
    const answer = options?.meta ? { ...result } : result.body;
    result.body = undefined;
    return answer as never;
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
    Connection: BufferingConnection,
    Serializer: ResponseParser,
    // Documents are validated before they are stored, and scanning a response takes longer than parsing it.
    disablePrototypePoisoningProtection: true,
    sniffOnStart: false,
    sniffOnConnectionFault: false,
    agent: { connect: { timeout: CONNECT_TIMEOUT_MS }, keepAliveTimeout: 30_000 } as never,
  };
}
