import { retry } from '../../shared/retry.js';
import { StoreTimeoutError } from '../../shared/store-errors.js';
import { BlockedError } from './errors.js';

/** Below the time limit of an HTTP request, and longer than a reindex blocks writes. */
const TIMEOUT_MS = 28_000;
/** Writers wait this long for the end of a reindex. */
const BLOCKED_RETRY = { firstMs: 50, maxMs: 100, timeoutMs: 20_000 };

export interface RetryOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

class ConflictError extends StoreTimeoutError {}

/**
 * Repeats `attempt` while it resolves with undefined, as a compare-and-set in conflict does. Throws `StoreTimeoutError` once the time
 * is over, and the reason of the signal.
 */
export function retryWithBackoff<T>(
  attempt: () => Promise<T | undefined>,
  { signal, timeoutMs = TIMEOUT_MS }: RetryOptions = {},
): Promise<T> {
  const work = async () => {
    const result = await attempt();
    if (result === undefined) throw new ConflictError('search');
    return result;
  };
  const isRetriable = (error: unknown) => error instanceof ConflictError;
  return retry({ firstMs: 5, maxMs: 500, timeoutMs }, work, { isRetriable, signal });
}

/** Repeats a write of new documents while a reindex blocks the index: then its alias is behind another one. */
export const retryWhileBlocked = <T>(write: () => Promise<T>): Promise<T> =>
  retry(BLOCKED_RETRY, write, { isRetriable: (error) => error instanceof BlockedError });
