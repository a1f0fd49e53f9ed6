import ipaddr from 'ipaddr.js';

/** An IP address as 16 bytes in hexadecimal (IPv4 mapped into IPv6); null for other text. The text sorts in the order of addresses. */
export function addressKey(value: string): string | null {
  if (!ipaddr.isValid(value) || value.includes('%')) return null;
  if (ipaddr.IPv4.isValid(value) && !ipaddr.IPv4.isValidFourPartDecimal(value)) return null;
  const parsed = ipaddr.parse(value);
  const six =
    parsed.kind() === 'ipv4' ? (parsed as ipaddr.IPv4).toIPv4MappedAddress() : (parsed as ipaddr.IPv6);
  return Buffer.from(six.toByteArray()).toString('hex');
}

/** First and last `addressKey` of an address or a CIDR block; null for other text. */
export function addressRange(value: string): { from: string; to: string } | null {
  const [address = '', ...prefix] = value.split('/');
  const key = addressKey(address);
  if (key === null) return null;
  if (prefix.length === 0) return { from: key, to: key };
  const kind = ipaddr.IPv4.isValid(address) ? ipaddr.IPv4 : ipaddr.IPv6;
  if (!kind.isValidCIDR(value)) return null;
  const [from, to] = [kind.networkAddressFromCIDR(value), kind.broadcastAddressFromCIDR(value)].map((end) =>
    addressKey(end.toString()),
  ) as [string, string];
  return { from, to };
}

/** The only IPv6 addresses that are routed on the internet. `range` also calls others `unicast`, such as ::7f00:1, which is 127.0.0.1. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is routed on the internet, and so is no address of this machine or of a private network. */
export function isPublicAddress(value: string): boolean {
  if (!ipaddr.isValid(value)) return false;
  const address = ipaddr.process(value);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(PUBLIC_IPV6));
}
