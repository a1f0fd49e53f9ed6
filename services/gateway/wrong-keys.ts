import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { Problem } from '../http/problems.js';

/** Wrong keys per client network: burst, and refill per second. */
const BURST = 300;
const REFILL_PER_SECOND = 5;
const MAX_ADDRESSES = 10_000;

interface Bucket {
  tokens: number;
  /** Milliseconds, monotonic. */
  filledAt: number;
}

/** Rate-limits wrong API keys by client network, with token buckets (contract 1.9). `now` is monotonic, in milliseconds. */
export class WrongKeyLimiter {
  readonly #now: () => number;
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_ADDRESSES });

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a token before a lookup. Throws 429 when the bucket is empty. */
  take(address: string): void {
    const bucket = this.#bucketOf(clientNetwork(address));
    if (bucket.tokens < 1) {
      throw new Problem(
        'rate_limited',
        'Too many API keys that are not valid came from this address; wait before you try another.',
        {},
        { 'Retry-After': String(Math.ceil((1 - bucket.tokens) / REFILL_PER_SECOND)) },
      );
    }
    bucket.tokens -= 1;
  }

  /** Returns the token: the key was valid. */
  refund(address: string): void {
    const bucket = this.#bucketOf(clientNetwork(address));
    bucket.tokens = Math.min(BURST, bucket.tokens + 1);
  }

  #bucketOf(network: string): Bucket {
    const now = this.#now();
    let bucket = this.#buckets.get(network);
    if (!bucket) {
      bucket = { tokens: BURST, filledAt: now };
      this.#buckets.set(network, bucket);
    }
    bucket.tokens = Math.min(BURST, bucket.tokens + ((now - bucket.filledAt) / 1000) * REFILL_PER_SECOND);
    bucket.filledAt = now;
    return bucket;
  }
}

/** The IPv4 address, or the /64 network of an IPv6 address, which is what one client is assigned. */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}
