import { type Backoff, backoffMs, sleep } from './async.js';

export interface RetryPolicy extends Backoff {
  /** Maximum attempts after the first attempt; by default unlimited. */
  retries?: number;
  /** Milliseconds after which no retry begins; by default unlimited. */
  timeoutMs?: number;
}

export interface RetryOptions {
  /** Whether another attempt may succeed; by default always. */
  isRetriable?(error: unknown): boolean;
  /** Called before each wait. */
  onRetry?(error: unknown): void;
  /** Signal that ends the waits. */
  signal?: AbortSignal;
  sleep?: typeof sleep;
  /** Source of random numbers from 0 (inclusive) to 1 (exclusive). */
  random?(): number;
  /** Monotonic time in milliseconds. */
  now?(): number;
}

/**
 * Repeats `work` while it fails with a retriable error, with exponential backoff and jitter. Throws the last error once the policy allows
 * no further attempt, and the reason of the signal.
 */
export async function retry<T>(
  policy: RetryPolicy,
  work: () => Promise<T>,
  {
    isRetriable = () => true,
    onRetry,
    signal,
    sleep: wait = sleep,
    random = Math.random,
    now = () => performance.now(),
  }: RetryOptions = {},
): Promise<T> {
  const { retries: maxRetries = Infinity, timeoutMs = Infinity } = policy;
  const expiresAt = now() + timeoutMs;
  for (let retries = 0; ; retries++) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (retries >= maxRetries || now() >= expiresAt || !isRetriable(error)) throw error;
      onRetry?.(error);
    }
    await wait(backoffMs(retries, policy, random()), signal);
  }
}
