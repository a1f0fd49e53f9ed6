import { Problem } from '../http/problems.js';
import { TokenBuckets } from './token-buckets.js';

const WINDOW_SECONDS = 60;

export interface RateLimiter {
  /** Takes a token; returns the response headers of draft-ietf-httpapi-ratelimit-headers. Throws 429 when the bucket is empty. */
  take(keyId: string): Record<string, string>;
  /** Takes tokens for requests that other workers admitted; the bucket may become negative. */
  charge(keyId: string, requests: number): void;
}

/** A token bucket per key: `limit` requests per 60 s. A limit of 0 disables it. `now` is monotonic, in milliseconds. */
export function createRateLimiter(limit: number, now?: () => number): RateLimiter {
  if (limit === 0) return { take: () => ({}), charge: () => undefined };
  const buckets = new TokenBuckets(limit, limit / WINDOW_SECONDS, now);
  const headersOf = (keyId: string) => ({
    RateLimit: `"default";r=${Math.max(0, Math.floor(buckets.tokens(keyId)))};t=${buckets.secondsUntil(keyId, limit)}`,
    'RateLimit-Policy': `"default";q=${limit};w=${WINDOW_SECONDS}`,
  });
  return {
    take(keyId) {
      if (buckets.take(keyId)) return headersOf(keyId);
      const wait = Math.max(1, buckets.secondsUntil(keyId, 1));
      throw new Problem(
        'rate_limited',
        `This key may send ${limit} requests in ${WINDOW_SECONDS} seconds. Try again in ${wait} s.`,
        {},
        { 'Retry-After': String(wait), ...headersOf(keyId) },
      );
    },
    charge: (keyId, requests) => buckets.add(keyId, -requests),
  };
}
