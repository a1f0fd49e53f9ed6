import ipaddr from 'ipaddr.js';
import { Problem } from '../http/problems.js';
import { TokenBuckets } from '../shared/token-buckets.js';

/** Limits of wrong keys per client network: burst, and refill per second. */
const BURST = 300;
const REFILL_PER_SECOND = 5;

/** Rate-limits wrong API keys by client network (contract 1.9). `now` is monotonic, in milliseconds. */
export class WrongKeyLimiter {
  readonly #buckets: TokenBuckets;

  constructor(now?: () => number) {
    this.#buckets = new TokenBuckets(BURST, REFILL_PER_SECOND, now);
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
