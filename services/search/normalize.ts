/** Normal forms under which values are stored for comparison. Each is idempotent on what it is meant for. */
import countries from 'i18n-iso-countries';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import ipaddr from 'ipaddr.js';
import { foldValue, trimTrailingSlashes } from '../shared/text.js';

/** A domain without scheme, credentials, one leading `www.`, port, path, case and trailing dot (contract 3.8). */
export function normalizeDomain(value: string): string {
  return value
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/, '')
    .replace(/:\d*$/, '')
    .replace(/\.$/, '')
    .replace(/^www\./, '');
}

/** A profile address without scheme, `www.` or two-letter sub-domain, query, fragment, trailing slash and case. */
export function normalizeProfileUrl(value: string): string {
  const address = value
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[?#].*$/s, '');
  return trimTrailingSlashes(address).replace(/^(?:www|[a-z]{2})\.(?=[^/]+\.)/, '');
}

/** What follows the last slash of a normal profile address: the slug, or a bare slug itself. */
export function profileSlug(normalUrl: string): string {
  return normalUrl.slice(normalUrl.lastIndexOf('/') + 1);
}

/** Postal code without white space and case. */
export function normalizePostalCode(value: string): string {
  return foldValue(value).replaceAll(' ', '');
}

countries.registerLocale(english);
const codeOf = new Map<string, string>();
for (const [alpha2, names] of Object.entries(
  countries.getNames('en', { select: 'all' }) as Record<string, string[]>,
)) {
  for (const name of names) codeOf.set(foldValue(name), alpha2.toLowerCase());
}
for (const [alpha3, alpha2] of Object.entries(countries.getAlpha3Codes())) {
  codeOf.set(alpha3.toLowerCase(), alpha2.toLowerCase());
  codeOf.set(alpha2.toLowerCase(), alpha2.toLowerCase());
}

/** ISO 3166 alpha-2 in lower case for a code or English name of a country, else the folded text itself. */
export function normalizeCountry(value: string): string {
  const folded = foldValue(value);
  return codeOf.get(folded) ?? folded;
}

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

/** A URL in lower case without scheme and trailing slashes: what `start_url` is a substring of. */
export function normalizeUrlText(value: string): string {
  return trimTrailingSlashes(
    value
      .trim()
      .toLowerCase()
      .replace(/^[a-z][a-z0-9+.-]*:\/\//, ''),
  );
}
