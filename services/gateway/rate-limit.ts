import { Problem } from '../http/problems.js';

const WINDOW_SECONDS = 60;
/** Full buckets are evicted above this number. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  /** Milliseconds, monotonic. */
  filledAt: number;
}

export interface RateLimiter {
  /** Takes a token; returns the response headers of draft-ietf-httpapi-ratelimit-headers. Throws 429 when the bucket is empty. */
  take(keyId: string): Record<string, string>;
  /** Takes tokens for requests that other workers admitted; the bucket may become negative. */
  charge(keyId: string, requests: number): void;
}

/** A token bucket per key: `limit` requests per 60 s. A limit of 0 disables it. `now` is monotonic, in milliseconds. */
export function createRateLimiter(limit: number, now: () => number = () => performance.now()): RateLimiter {
  if (limit === 0) return { take: () => ({}), charge: () => undefined };
  const policy = `"default";q=${limit};w=${WINDOW_SECONDS}`;
  const perMillisecond = limit / (WINDOW_SECONDS * 1000);
  const buckets = new Map<string, Bucket>();

  /** A full bucket equals an absent one, so it can be evicted. */
  function evictFull(time: number) {
    for (const [keyId, bucket] of buckets) {
      if (bucket.tokens + (time - bucket.filledAt) * perMillisecond >= limit) buckets.delete(keyId);
    }
  }

  function bucketOf(keyId: string): Bucket {
    const time = now();
    let bucket = buckets.get(keyId);
    if (!bucket) {
      if (buckets.size >= MAX_BUCKETS) evictFull(time);
      bucket = { tokens: limit, filledAt: time };
      buckets.set(keyId, bucket);
    }
    bucket.tokens = Math.min(limit, bucket.tokens + (time - bucket.filledAt) * perMillisecond);
    bucket.filledAt = time;
    return bucket;
  }

  function take(keyId: string) {
    const bucket = bucketOf(keyId);
    const headers = () => ({
      RateLimit: `"default";r=${Math.max(0, Math.floor(bucket.tokens))};t=${Math.ceil((limit - bucket.tokens) / perMillisecond / 1000)}`,
      'RateLimit-Policy': policy,
    });
    if (bucket.tokens < 1) {
      const wait = Math.max(1, Math.ceil((1 - bucket.tokens) / perMillisecond / 1000));
      throw new Problem(
        'rate_limited',
        `This key may send ${limit} requests in ${WINDOW_SECONDS} seconds. Try again in ${wait} s.`,
        {},
        { 'Retry-After': String(wait), ...headers() },
      );
    }
    bucket.tokens -= 1;
    return headers();
  }

  return {
    take,
    charge(keyId, requests) {
      bucketOf(keyId).tokens -= requests;
    },
  };
}
