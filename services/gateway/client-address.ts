import type { IncomingMessage } from 'node:http';
import { addressKey, addressRange } from '../shared/ip-address.js';

/** Tells where a request comes from. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The address of the peer or, where that is a trusted proxy, the last address of `X-Forwarded-For` that is not one. What stands
 * before it in the header is the client's own claim.
 */
export function createClientAddress(trustedProxies: readonly string[] = []): ClientAddress {
  const peerOf = (request: IncomingMessage) => request.socket.remoteAddress ?? '';
  if (trustedProxies.length === 0) return peerOf;
  const ranges = trustedProxies.map(addressRange);
  const isTrusted = (address: string) => {
    const key = addressKey(address);
    return key !== null && ranges.some((range) => range && range.from <= key && key <= range.to);
  };
  return (request) => {
    let address = peerOf(request);
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
    while (isTrusted(address)) {
      const next = forwarded.pop()?.trim();
      if (next === undefined || addressKey(next) === null) break;
      address = next;
    }
    return address;
  };
}
