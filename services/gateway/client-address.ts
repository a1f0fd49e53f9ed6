import type { IncomingMessage } from 'node:http';
import { addressKey, addressRange } from '../shared/ip-address.js';

/** The IP address of the client; empty once the socket is closed. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The peer address or, behind trusted proxies, the last address of `X-Forwarded-For` that is not a trusted proxy. The client can forge
 * earlier addresses.
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
