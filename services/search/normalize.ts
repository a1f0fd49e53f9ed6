/** Normal forms under which values are stored for comparison. Each is idempotent on what it is meant for. */
import countries from 'i18n-iso-countries';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
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

/** A URL in lower case without scheme and trailing slashes: what `start_url` is a substring of. */
export function normalizeUrlText(value: string): string {
  return trimTrailingSlashes(
    value
      .trim()
      .toLowerCase()
      .replace(/^[a-z][a-z0-9+.-]*:\/\//, ''),
  );
}
