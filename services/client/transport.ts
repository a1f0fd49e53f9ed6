/** One request of the client, repeated until it is answered. */
import { ConnectionError, problemOf, ReachlineProblem } from './problems.js';

const FIRST_WAIT_MS = 250;
const MAX_BACKOFF_MS = 16_000;
/** Of proxies and of the gateway; any other answer is repeated where it has `Retry-After`. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503]);

export interface RetryOptions {
  /** Attempts of one request, the first included; default 6. */
  maxAttempts?: number;
  /** An answer that asks to wait longer is thrown at once; default 60 000. */
  maxWaitMs?: number;
  /** An attempt without a complete answer is abandoned after this time; default 120 000. */
  timeoutMs?: number;
  /** Called before each wait. */
  onRetry?(retry: { error: ReachlineProblem | ConnectionError; attempt: number; waitMs: number }): void;
}

export interface TransportOptions extends RetryOptions {
  /** Base address of the gateway, such as `https://reachline.example.com`; in a browser by default that of the page. */
  url?: string | URL;
  apiKey?: string;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
}

export interface TransportRequest {
  method: 'GET' | 'POST';
  /** Below the base address. */
  path: string;
  query?: object;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

/** Throws ReachlineProblem, ConnectionError, and the reason of an aborted signal. */
export type Transport = <T>(request: TransportRequest) => Promise<T>;

export function createTransport(options: TransportOptions): Transport {
  const { maxAttempts = 6, maxWaitMs = 60_000 } = options;
  return async function send<T>(request: TransportRequest): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      request.signal?.throwIfAborted();
      try {
        return await sendOnce<T>(options, request);
      } catch (error) {
        if (!isRetriable(error) || attempt >= maxAttempts) throw error;
        const waitMs = (error as ReachlineProblem).retryAfterMs ?? backoffMs(attempt);
        if (waitMs > maxWaitMs) throw error;
        options.onRetry?.({ error, attempt, waitMs });
        await wait(waitMs, request.signal);
      }
    }
  };
}

const isRetriable = (error: unknown): error is ReachlineProblem | ConnectionError =>
  error instanceof ConnectionError ||
  (error instanceof ReachlineProblem && (BUSY.has(error.status) || error.retryAfterMs !== undefined));

/** Doubled each time, and spread over its upper half, so that clients do not return together. */
function backoffMs(attempt: number): number {
  const most = Math.min(MAX_BACKOFF_MS, FIRST_WAIT_MS * 2 ** attempt);
  return most / 2 + (Math.random() * most) / 2;
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

async function sendOnce<T>(options: TransportOptions, request: TransportRequest): Promise<T> {
  const { timeoutMs = 120_000, apiKey, fetch: send = fetch } = options;
  const { signal } = request;
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await send(addressOf(options.url, request), {
      method: request.method,
      headers: { ...(apiKey === undefined ? {} : { 'X-Api-Key': apiKey }), ...request.headers },
      body: request.body,
      signal: attempt.signal,
    });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const detail = attempt.signal.aborted ? `No answer came within ${timeoutMs} ms.` : String(cause);
    throw new ConnectionError(`The server cannot be reached. ${detail}`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  if (!response.ok) throw problemOf(response, text);
  return parse<T>(response, text);
}

function addressOf(base: string | URL = '', { path, query }: TransportRequest): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) params.set(name, String(value));
  }
  return `${String(base).replace(/\/+$/, '')}${path}${params.size === 0 ? '' : `?${params}`}`;
}

function parse<T>(response: Response, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ReachlineProblem(response.status, {
      title: 'The answer is not JSON',
      detail: 'The answer is not JSON; url may not be the address of a gateway.',
    });
  }
}
