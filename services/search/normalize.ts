/** Normal forms under which values are stored for comparison. Each is idempotent on what it is meant for. */
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

/** A URL in lower case without scheme, the slashes before its host and trailing slashes: what `start_url` is a substring of. */
export function normalizeUrlText(value: string): string {
  return trimTrailingSlashes(
    value
      .trim()
      .toLowerCase()
      .replace(/^(?:(?:[a-z][a-z0-9+.-]*)?:)?\/\//, ''),
  );
}

/** Folded, with a space before every word: a text that begins where a word of another does is a substring of it (contract 4.1). */
export function normalizeWordStarts(value: string): string {
  const folded = foldValue(value);
  return folded === '' ? '' : ` ${folded}`.replace(/(?<![\p{L}\p{N}\p{M}\s])(?=[\p{L}\p{N}])/gu, ' ');
}
