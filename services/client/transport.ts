/** Sends one request, and repeats it until it gets a response. */
import { ConnectionError, problemOf, ReachlineProblem } from './problems.js';

const FIRST_WAIT_MS = 250;
const MAX_BACKOFF_MS = 16_000;
/**
 * Statuses of proxies and of the gateway after which a request is repeated. Other responses except 504 are repeated if they have
 * `Retry-After`.
 */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503]);

export interface RetryOptions {
  /** Attempts per request, including the first; default 6. */
  maxAttempts?: number;
  /** A response that asks for a longer wait is thrown at once; default 60 000. */
  maxWaitMs?: number;
  /** An attempt without a complete response is abandoned after this many milliseconds; default 120 000. */
  timeoutMs?: number;
  /** Called before each wait. */
  onRetry?(retry: { error: ReachlineProblem | ConnectionError; attempt: number; waitMs: number }): void;
}

export interface TransportOptions extends RetryOptions {
  /** Base address of the gateway, such as `https://reachline.example.com`. In a browser, the default is the address of the page. */
  url?: string | URL;
  apiKey?: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

export interface TransportRequest {
  method: 'GET' | 'POST';
  /** Path relative to the base address. */
  path: string;
  query?: object;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | Blob | FormData;
  signal?: AbortSignal;
  /** Whether the request writes something, so that only a repetition with the same idempotency key avoids a second write. */
  writes?: boolean;
}

export interface Transport {
  /** Returns the JSON of the response. Throws ReachlineProblem, ConnectionError, and the reason of an aborted signal. */
  send<T>(request: TransportRequest): Promise<T>;
  /** Returns the response once its headers arrive, with its body unread. Throws like `send`. */
  open(request: TransportRequest): Promise<Response>;
}

export function createTransport(options: TransportOptions): Transport {
  const { maxAttempts = 6, maxWaitMs = 60_000 } = options;
  async function repeat<T>(request: TransportRequest, read: (response: Response) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      request.signal?.throwIfAborted();
      try {
        return await sendOnce(options, request, read);
      } catch (error) {
        if (request.writes && isUnknown(error)) error.outcomeUnknown = true;
        if (!isRetriable(error) || attempt >= maxAttempts) throw error;
        // The server may ask for no wait at all, or have a wrong clock.
        const waitMs = Math.max((error as ReachlineProblem).retryAfterMs ?? 0, backoffMs(attempt));
        if (waitMs > maxWaitMs) throw error;
        options.onRetry?.({ error, attempt, waitMs });
        await wait(waitMs, request.signal);
      }
    }
  }
  return {
    send: <T>(request: TransportRequest) =>
      repeat(request, async (response) => jsonOf<T>(response.status, await response.text())),
    open: (request) => repeat(request, unread),
  };
}

/** After 504, a repetition would take as long again, and a write may have completed. */
const isRetriable = (error: unknown): error is ReachlineProblem | ConnectionError =>
  error instanceof ConnectionError ||
  (error instanceof ReachlineProblem &&
    error.status !== 504 &&
    (BUSY.has(error.status) || error.retryAfterMs !== undefined));

/** Whether the request may have written something. A request that exceeds a limit has written nothing. */
const isUnknown = (error: unknown): error is ReachlineProblem | ConnectionError =>
  error instanceof ConnectionError ||
  (error instanceof ReachlineProblem &&
    (error.code === 'outcome_unknown' || (error.status >= 500 && error.code !== 'overloaded')));

/** Doubles each time, spread over the upper half, so that clients do not return together. */
function backoffMs(attempt: number): number {
  const most = Math.min(MAX_BACKOFF_MS, FIRST_WAIT_MS * 2 ** attempt);
  return most / 2 + (Math.random() * most) / 2;
}

/** Ends early if the signal is aborted. */
export function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : milliseconds);
    signal?.addEventListener('abort', end);
  });
}

const unread = async (response: Response) => response;

async function sendOnce<T>(
  options: TransportOptions,
  request: TransportRequest,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { timeoutMs = 120_000, apiKey, fetch: send = fetch } = options;
  const { signal } = request;
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  try {
    const response = await send(addressOf(options.url, request), {
      method: request.method,
      headers: { ...(apiKey === undefined ? {} : { 'X-Api-Key': apiKey }), ...request.headers },
      body: request.body,
      signal: attempt.signal,
    });
    if (!response.ok) throw problemOf(response, await response.text());
    return await read(response);
  } catch (cause) {
    if (cause instanceof ReachlineProblem) throw cause;
    signal?.throwIfAborted();
    const detail = attempt.signal.aborted ? `No answer came within ${timeoutMs} ms.` : String(cause);
    throw new ConnectionError(`The server cannot be reached. ${detail}`, { cause });
  } finally {
    clearTimeout(timer);
    // A response whose body is still unread can be aborted.
    if ((read as unknown) !== unread) signal?.removeEventListener('abort', abort);
  }
}

function addressOf(base: string | URL = '', { path, query }: TransportRequest): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) params.set(name, String(value));
  }
  return `${String(base).replace(/(?<!\/)\/+$/, '')}${path}${params.size === 0 ? '' : `?${params}`}`;
}

/** The JSON of a response; a problem if it does not come from a gateway. */
export function jsonOf<T>(status: number, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ReachlineProblem(status, {
      title: 'The answer is not JSON',
      detail: 'The answer is not JSON; url may not be the address of a gateway.',
    });
  }
}
