/** Rate limits of the gateway: limits of requests per key and organization, and limits of wrong keys per client network. */
import ipaddr from 'ipaddr.js';
import type { Caller } from '../http/admission.js';
import { Problem } from '../http/problems.js';
import { TokenBuckets } from '../shared/token-buckets.js';

const WINDOW_SECONDS = 60;

/** Requests that all keys of an organization may send together, as a multiple of the limit of one key. */
const ORGANIZATION_SHARE = 2;

/** Bytes of a request's body that one token pays for. */
const BYTES_PER_TOKEN = 64 * 1024;

/** Tokens that a body costs in addition to the token of every request. */
export const bodyTokens = (bytes: number): number => Math.max(0, Math.ceil(bytes / BYTES_PER_TOKEN) - 1);

/**
 * Bytes of a stored response that one token pays for. This limits what an organization can store in a day: 17 GB at the default rate limit.
 */
const KEPT_BYTES_PER_TOKEN = 1024;

/** Tokens that a stored response costs in addition to the token of its request. */
export const keptTokens = (bytes: number): number => Math.max(0, Math.ceil(bytes / KEPT_BYTES_PER_TOKEN) - 1);

export interface RateLimiter {
  /** Takes a token, and returns the response headers of draft-ietf-httpapi-ratelimit-headers. Throws 429 if a bucket is empty. */
  take(caller: Caller): Record<string, string>;
  /** Takes tokens for bodies and stored responses. The buckets may become negative. */
  charge(caller: Caller, tokens: number): void;
}

/**
 * A token bucket per key with `limit` requests per 60 s, and a token bucket per organization with twice as many requests. A limit of 0
 * disables both. `now` is monotonic, in milliseconds.
 */
export function createRateLimiter(limit: number, now?: () => number): RateLimiter {
  if (limit === 0) return { take: () => ({}), charge: () => undefined };
  const bucketsOf = (most: number) => new TokenBuckets(most, most / WINDOW_SECONDS, now);
  const keys = bucketsOf(limit);
  const organizations = bucketsOf(ORGANIZATION_SHARE * limit);
  const scopesOf = ({ keyId, organizationId }: Caller) => [
    { whose: 'This key', buckets: keys, id: keyId },
    { whose: 'This organization', buckets: organizations, id: organizationId },
  ];
  const headersOf = (caller: Caller) => {
    const left = Math.min(...scopesOf(caller).map(({ buckets, id }) => buckets.tokens(id)));
    return {
      RateLimit: `"default";r=${Math.max(0, Math.floor(left))};t=${keys.secondsUntil(caller.keyId, limit)}`,
      'RateLimit-Policy': `"default";q=${limit};w=${WINDOW_SECONDS}`,
    };
  };
  const charge = (caller: Caller, tokens: number) => {
    for (const { buckets, id } of scopesOf(caller)) buckets.add(id, -tokens);
  };
  return {
    take(caller) {
      const empty = scopesOf(caller).find(({ buckets, id }) => buckets.tokens(id) < 1);
      if (empty === undefined) {
        charge(caller, 1);
        return headersOf(caller);
      }
      const { whose, buckets, id } = empty;
      const wait = Math.max(1, buckets.secondsUntil(id, 1));
      throw new Problem(
        'rate_limited',
        `${whose} may send ${buckets.capacity} requests in ${WINDOW_SECONDS} seconds. Try again in ${wait} s.`,
        {},
        { 'Retry-After': String(wait), ...headersOf(caller) },
      );
    },
    charge,
  };
}

/** Limits of wrong keys per client network: burst, and refill per second. */
const WRONG_KEY_BURST = 300;
const WRONG_KEYS_PER_SECOND = 5;

/** Rate-limits wrong API keys by client network (contract 1.9). `now` is monotonic, in milliseconds. */
export class WrongKeyLimiter {
  readonly #buckets: TokenBuckets;

  constructor(now?: () => number) {
    this.#buckets = new TokenBuckets(WRONG_KEY_BURST, WRONG_KEYS_PER_SECOND, now);
  }

  /** Takes a token for a wrong key. Throws 429 if the bucket is empty. */
  take(address: string): void {
    const network = clientNetwork(address);
    if (this.#buckets.take(network)) return;
    throw new Problem(
      'rate_limited',
      'Too many invalid API keys came from this address; wait before you try another.',
      {},
      { 'Retry-After': String(this.#buckets.secondsUntil(network, 1)) },
    );
  }

  /** Whether the next wrong key of the network exceeds the limit. */
  isExceeded(address: string): boolean {
    return this.#buckets.tokens(clientNetwork(address)) < 1;
  }
}

/** The IPv4 address, or the /64 network of an IPv6 address, which is usually assigned to one client. */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}
