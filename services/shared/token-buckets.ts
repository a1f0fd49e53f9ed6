import { LRUCache } from 'lru-cache';

const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  /** Time of the last refill, in milliseconds of a monotonic clock. */
  filledAt: number;
}

/**
 * Token buckets by id. If there are more than 10 000, the least recently used bucket counts as full again. `now` is monotonic, in
 * milliseconds.
 */
export class TokenBuckets {
  readonly capacity: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });

  constructor(capacity: number, perSecond: number, now: () => number = () => performance.now()) {
    this.capacity = capacity;
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes a token. Returns false if the bucket is empty. */
  take(id: string): boolean {
    const bucket = this.#refilled(id);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  /** Adds tokens up to the capacity; a negative number may leave a debt. */
  add(id: string, tokens: number): void {
    const bucket = this.#refilled(id);
    bucket.tokens = Math.min(this.capacity, bucket.tokens + tokens);
  }

  tokens(id: string): number {
    return this.#refilled(id).tokens;
  }

  /** Whole seconds until the bucket has this many tokens. */
  secondsUntil(id: string, tokens: number): number {
    return Math.ceil((tokens - this.#refilled(id).tokens) / this.#perSecond);
  }

  #refilled(id: string): Bucket {
    const now = this.#now();
    const bucket = this.#buckets.get(id) ?? { tokens: this.capacity, filledAt: now };
    bucket.tokens = Math.min(
      this.capacity,
      bucket.tokens + ((now - bucket.filledAt) / 1000) * this.#perSecond,
    );
    bucket.filledAt = now;
    this.#buckets.set(id, bucket);
    return bucket;
  }
}
