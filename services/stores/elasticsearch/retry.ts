import { retry } from '../../shared/retry.js';
import { StoreTimeoutError } from '../../shared/store-errors.js';
import { throwIfBlocked } from './blocks.js';
import type { Cluster } from './client.js';
import { BlockedError } from './errors.js';

/** Timeout of all attempts together: below the timeout of an HTTP request, and longer than a reindex blocks writes. */
const TIMEOUT_MS = 28_000;
/** Retries with which writers wait for the end of a reindex. */
const BLOCKED_RETRY = { firstMs: 50, maxMs: 100, timeoutMs: 20_000 };

export interface RetryOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

class ConflictError extends StoreTimeoutError {}

/**
 * Repeats `attempt` while it resolves with undefined, for example after a conflicting compare-and-set. Throws `StoreTimeoutError` after the
 * timeout, and the reason of the signal.
 */
export function retryWithBackoff<T>(
  attempt: () => Promise<T | undefined>,
  { signal, timeoutMs = TIMEOUT_MS }: RetryOptions = {},
): Promise<T> {
  const work = async () => {
    const result = await attempt();
    if (result === undefined) throw new ConflictError('records');
    return result;
  };
  const isRetriable = (error: unknown) => error instanceof ConflictError;
  return retry({ firstMs: 5, maxMs: 500, timeoutMs }, work, { isRetriable, signal });
}

/**
 * Repeats a write of new documents while a reindex blocks the index; afterwards the alias points to the new index. Throws `ReadOnlyError`
 * at once if an operator blocked the index.
 */
export function retryWhileBlocked<T>(cluster: Cluster, write: () => Promise<T>): Promise<T> {
  const attempt = () =>
    write().catch(async (error: unknown) => {
      if (error instanceof BlockedError) await throwIfBlocked(cluster, error);
      throw error;
    });
  return retry(BLOCKED_RETRY, attempt, { isRetriable: (error) => error instanceof BlockedError });
}
