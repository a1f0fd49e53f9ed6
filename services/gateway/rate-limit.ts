import { Problem } from '../http/problems.js';

const WINDOW_SECONDS = 60;

interface Bucket {
  tokens: number;
  /** Milliseconds, monotonic. */
  filledAt: number;
}

export interface RateLimiter {
  /** Headers of draft-ietf-httpapi-ratelimit-headers for the answer; throws 429 when the bucket is empty. */
  take(keyId: string): Record<'RateLimit' | 'RateLimit-Policy', string> | undefined;
  /** Counts requests that the key sent elsewhere, even beyond what its bucket holds. */
  charge(keyId: string, requests: number): void;
}

/** A token bucket a key, holding `limit` requests and refilled over 60 s; a limit of 0 switches it off. */
export function createRateLimiter(limit: number, now: () => number = () => performance.now()): RateLimiter {
  if (limit === 0) return { take: () => undefined, charge: () => undefined };
  const policy = `"default";q=${limit};w=${WINDOW_SECONDS}`;
  const perMillisecond = limit / (WINDOW_SECONDS * 1000);
  const buckets = new Map<string, Bucket>();

  /** A full bucket says no more than no bucket. */
  function dropFull(time: number) {
    for (const [keyId, bucket] of buckets) {
      if (bucket.tokens + (time - bucket.filledAt) * perMillisecond >= limit) buckets.delete(keyId);
    }
  }

  function bucketOf(keyId: string): Bucket {
    const time = now();
    let bucket = buckets.get(keyId);
    if (!bucket) {
      if (buckets.size >= 10_000) dropFull(time);
      bucket = { tokens: limit, filledAt: time };
      buckets.set(keyId, bucket);
    }
    bucket.tokens = Math.min(limit, bucket.tokens + (time - bucket.filledAt) * perMillisecond);
    bucket.filledAt = time;
    return bucket;
  }

  function take(keyId: string) {
    const bucket = bucketOf(keyId);
    if (bucket.tokens < 1) {
      const wait = Math.max(1, Math.ceil((1 - bucket.tokens) / perMillisecond / 1000));
      throw new Problem(
        'rate_limited',
        `This key may send ${limit} requests in ${WINDOW_SECONDS} seconds. Try again in ${wait} s.`,
        {},
        { 'Retry-After': String(wait), RateLimit: `"default";r=0;t=${wait}`, 'RateLimit-Policy': policy },
      );
    }
    bucket.tokens -= 1;
    const untilFull = Math.ceil((limit - bucket.tokens) / perMillisecond / 1000);
    return {
      RateLimit: `"default";r=${Math.floor(bucket.tokens)};t=${untilFull}`,
      'RateLimit-Policy': policy,
    };
  }

  return {
    take,
    charge(keyId, requests) {
      bucketOf(keyId).tokens -= requests;
    },
  };
}
