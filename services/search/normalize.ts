/** Normal forms in which values are stored for comparison. Normalizing a normal form again does not change it. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { fold, foldValue, plainAscii, trimTrailingSlashes } from '../shared/text.js';

/** A domain in Unicode without scheme, credentials, one leading `www.`, port, path, case and trailing dot (contract 3.8). */
export function normalizeDomain(value: string): string {
  const host = value
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/, '')
    .replace(/:\d*$/, '');
  return unicodeHost(host)
    .replace(/\.$/, '')
    .replace(/^www\./, '');
}

const domainName = /^(?:[\p{L}\p{M}\p{N}_-]{1,63}\.)+(?!\d+$)[\p{L}\p{M}\p{N}-]{2,63}$/u;

/** The normal form of a domain; null for text that is not a domain, such as `n/a` or `Acme Inc.` (contract 6.2b). */
export function domainOf(value: string): string | null {
  const domain = normalizeDomain(value);
  return domain.length <= 253 && domainName.test(domain) ? domain : null;
}

const asciiHost = /^[a-z0-9.:-]*$/;

/** A host name in Unicode, with punycode decoded. Other text stays unchanged. */
function unicodeHost(host: string): string {
  return asciiHost.test(host) && !host.includes('xn--') ? host : domainToUnicode(domainToASCII(host)) || host;
}

/** Hosts of LinkedIn and of its countries. A profile has the same address on all of these hosts. */
const networkHost = /^(?:[^/]+\.)?linkedin\.(?:com|cn)$/;
const NETWORK = 'linkedin.com';
/** The last part of a profile address on LinkedIn. Profiles with numbered `pub` addresses have no other address. */
const networkProfile = /(?:^|\/)(?:in|pub(?!\/[^/]+\/[0-9a-f]{1,3}\/))\/([^/]+)/;
/** The last part of a profile address elsewhere. Mail and the mobile site put a name before the last part. */
const otherProfile = /^\/(?:(?:comm|mwlite|m)\/)?in\/([^/]+)/;

/**
 * Normal form of a profile address (contract 3.8), by which search, duplicates and suppression compare people: `linkedin.com/in/slug` on
 * hosts of LinkedIn, `host/in/slug` on other hosts. An address without a slug stays as `profileAddress` returns it. Text without a slash
 * counts as a slug.
 */
export function normalizeProfileUrl(value: string): string {
  const address = profileAddress(value.replace(/\p{Cf}/gu, '').replace(opening, ''));
  if (knownForm.test(address)) return address;
  const slash = address.indexOf('/');
  if (slash === -1) return cleanSlug(address) || address;
  const host = address.slice(0, slash);
  const isOfNetwork = networkHost.test(host);
  const [, last] = (isOfNetwork ? networkProfile : otherProfile).exec(address.slice(slash)) ?? [];
  const slug = last && cleanSlug(last);
  return slug ? `${isOfNetwork ? NETWORK : host}/in/${slug}` : address;
}

/** Punctuation before and after an address in a text. */
const opening = /^[\s\p{Ps}\p{Pi}"'<]+/u;
const closing = /[\p{Pe}\p{Pf}"'>.,;:!?…*|]/u;

/** Addresses that are nearly always in normal form already; for these, cleaning is skipped. */
const knownForm = /^(?!.*\.linkedin\.com\/|.*linkedin\.cn\/)[a-z0-9.-]+\/in\/[a-z0-9_-]+$/;

/** The part of an address that identifies the person: decoded, without characters that mails and spreadsheets put around an address. */
function cleanSlug(text: string): string {
  const [slug = ''] = decodeAll(text)
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[\s\p{C}]/gu, '')
    .replace(opening, '')
    .split(/[/\\?#&]/, 1);
  let end = slug.length;
  while (end > 0 && closing.test(slug[end - 1] as string)) end--;
  return slug.slice(0, end);
}

/** Decodes text even if it was encoded more than once. */
function decodeAll(text: string): string {
  let decoded = text;
  for (let rounds = text.length; rounds > 0 && decoded.includes('%'); rounds--) {
    const next = decoded.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
      try {
        return decodeURIComponent(encoded);
      } catch {
        return encoded;
      }
    });
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

/**
 * The address of a profile without scheme, credentials, `www.`, `m.`, `mobile.` or two-letter sub-domain, port, trailing dot of the host,
 * query, fragment, trailing slash, case, and anything after the slug of `/in/`. The path is resolved as in browsers, the host is in
 * Unicode, and percent-encoding of letters is undone (RFC 3986, 6.2.2).
 */
function profileAddress(value: string): string {
  const usual = usualProfile.exec(value.trim().toLowerCase());
  if (usual && !usual[1]?.includes('xn--'))
    return withoutSubdomain(usual[1] as string) + (usual[2] as string);
  const text = value
    .trim()
    .toLowerCase()
    .replaceAll('\\', '/')
    .replace(/^[a-z][a-z0-9+.-]*:(?=\/)/, '')
    .replace(/[?#].*$/s, '');
  // First reduces several slashes to one, because the parser of Node.js 20 keeps dots after two slashes.
  const address = trimTrailingSlashes(text).replace(/^\/+/, '').replace(/\/+/g, '/');
  if (!address.includes('/')) return withoutSubdomain(decodePercent(address));
  if (!URL.canParse(`http://${address}`)) return withoutSubdomain(unparsedAddress(address));
  const { hostname, pathname } = new URL(`http://${address}`);
  const host = unicodeHost(hostname).replace(/\.$/, '');
  const path = decodePercent(trimTrailingSlashes(pathname.toLowerCase()));
  return withoutSubdomain(host) + path.replace(/^(\/in\/[^/]+)\/.*$/s, '$1');
}

/** Addresses that parsing would not change, unless they contain punycode. Parsing takes longer than everything else. */
const usualProfile = /^(?:https?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,})(\/in\/[a-z0-9_-]+)\/?$/;

const withoutSubdomain = (host: string) => host.replace(/^(?:(?:www|m|mobile|[a-z]{2})\.)+(?=.+\.)/, '');

/** The normal form of an address that is not a URL. The address is in lower case and has a slash. */
function unparsedAddress(address: string): string {
  const plain = decodePercent(trimTrailingSlashes(address.trim()));
  const slash = plain.indexOf('/');
  return slash === -1 ? plain : unicodeHost(plain.slice(0, slash)) + plain.slice(slash);
}

/** Decodes letters beyond ASCII and unreserved characters. Other encodings could mean something else once decoded. */
function decodePercent(text: string): string {
  const decoded = text.includes('%')
    ? text
        .replace(/%(?:2d|2e|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f|7e)/g, decodeURIComponent)
        .replace(/%(?:[cd].|e.%[89ab].|f.%[89ab].%[89ab].)%[89ab][0-9a-f]/g, decodeOrKeep)
    : text;
  return plainAscii.test(decoded) ? decoded.toLowerCase() : decoded.toLowerCase().normalize('NFC');
}

function decodeOrKeep(encoded: string): string {
  try {
    const decoded = decodeURIComponent(encoded);
    return /[\p{C}\p{Z}]/u.test(decoded) ? encoded : decoded;
  } catch {
    return encoded;
  }
}

/**
 * An email address without white space, case and compatibility forms such as full-width letters, with its domain in Unicode. Two addresses
 * with the same normal form count as the same address.
 */
export function normalizeEmail(value: string): string {
  const email = value.normalize('NFKC').replace(/\s+/g, '').toLowerCase();
  const at = email.lastIndexOf('@') + 1;
  const host = email.slice(at);
  if (plainAscii.test(email) && !host.includes('xn--')) return email;
  return (email.slice(0, at) + (at === 0 ? host : unicodeHost(host))).normalize('NFKC');
}

/** The slug of a normalized profile address, which is the text after the last slash. A bare slug is returned unchanged. */
export function profileSlug(normalUrl: string): string {
  return normalUrl.slice(normalUrl.lastIndexOf('/') + 1);
}

/** The slug of a person's profile address. Null for other addresses, such as a company's, and for text without a slash. */
export function slugOfProfile(url: string): string | null {
  const [host, kind, slug, ...rest] = normalizeProfileUrl(url).split('/');
  return host && kind === 'in' && slug && rest.length === 0 ? slug : null;
}

/** Normalizes a postal code: no white space, and one case. */
export function normalizePostalCode(value: string): string {
  return foldValue(value).replaceAll(' ', '');
}

/**
 * Normalizes a URL: folded, without scheme, the slashes before its host, and trailing slashes, and with punycode decoded. `start_url` must
 * be a substring of this form.
 */
export function normalizeUrlText(value: string): string {
  const address = fold(value.trim())
    .replace(/^(?:(?:[a-z][a-z0-9+.-]*)?:)?\/\//, '')
    .replace(/(?<![a-z0-9-])xn--[a-z0-9-]+/g, (label) => domainToUnicode(label) || label);
  return trimTrailingSlashes(fold(address));
}

/**
 * Folded text with a space before every word, so that a text that begins with a space matches as a substring only from the beginning of a
 * word (contract 4.1).
 */
export function normalizeWordStarts(value: string): string {
  const folded = foldValue(value);
  return folded === '' ? '' : ` ${folded}`.replace(/(?<![\p{L}\p{N}\p{M}\s])(?=[\p{L}\p{N}])/gu, ' ');
}
