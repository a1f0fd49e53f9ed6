import ipaddr from 'ipaddr.js';

/** An IP address as 16 bytes in hexadecimal (IPv4 mapped into IPv6), null when it is not one. Sorts as addresses do. */
export function addressKey(value: string): string | null {
  if (!ipaddr.isValid(value) || value.includes('%')) return null;
  if (ipaddr.IPv4.isValid(value) && !ipaddr.IPv4.isValidFourPartDecimal(value)) return null;
  const parsed = ipaddr.parse(value);
  const six =
    parsed.kind() === 'ipv4' ? (parsed as ipaddr.IPv4).toIPv4MappedAddress() : (parsed as ipaddr.IPv6);
  return Buffer.from(six.toByteArray()).toString('hex');
}

/** First and last `addressKey` of an address or a CIDR block, null when the text is neither. */
export function addressRange(value: string): { from: string; to: string } | null {
  const slash = value.indexOf('/');
  if (slash < 0) {
    const key = addressKey(value);
    return key === null ? null : { from: key, to: key };
  }
  const base = addressKey(value.slice(0, slash));
  const prefixText = value.slice(slash + 1);
  if (base === null || !/^\d{1,3}$/.test(prefixText)) return null;
  const isIpv4 = ipaddr.IPv4.isValid(value.slice(0, slash));
  const prefix = Number(prefixText) + (isIpv4 ? 96 : 0);
  if (prefix > 128) return null;
  const hostBits = BigInt(128 - prefix);
  const from = (BigInt(`0x${base}`) >> hostBits) << hostBits;
  const to = from | ((1n << hostBits) - 1n);
  const hex = (address: bigint) => address.toString(16).padStart(32, '0');
  return { from: hex(from), to: hex(to) };
}
