import { setTimeout as sleep } from 'node:timers/promises';
import { StoreTimeoutError } from '../../shared/store-errors.js';

/** Below the time limit of an HTTP request, and longer than a reindex blocks writes. */
const TIMEOUT_MS = 28_000;
const BACKOFF_MS = { min: 5, max: 500 };

export interface RetryOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

/**
 * Repeats `attempt` while it resolves with undefined, as a compare-and-set in conflict does. Waits in between with exponential
 * backoff and full jitter. Throws `StoreTimeoutError` once the time is over, and the reason of the signal.
 */
export async function retryWithBackoff<T>(
  attempt: () => Promise<T | undefined>,
  { signal, timeoutMs = TIMEOUT_MS }: RetryOptions = {},
): Promise<T> {
  const expiresAt = performance.now() + timeoutMs;
  for (let tries = 0; ; tries++) {
    signal?.throwIfAborted();
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() >= expiresAt) throw new StoreTimeoutError('search');
    const ceiling = Math.min(BACKOFF_MS.max, BACKOFF_MS.min * 2 ** tries);
    await sleep(Math.random() * ceiling, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}
