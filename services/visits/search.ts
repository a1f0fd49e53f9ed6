/** Turns requests into visit searches. Pure, and the same for every store. */
import { noWords } from '../http/problems.js';
import { normalizeCountry } from '../search/countries.js';
import { normalizeDomain, normalizeUrlText, normalizeWordStarts } from '../search/normalize.js';
import { addressRange } from '../shared/ip-address.js';
import { foldValue, hasLetterOrDigit } from '../shared/text.js';
import { parseTimestamp } from '../shared/time.js';
import type { SearchVisitsRequest } from './schema.js';
import type { VisitSearch } from './visit-store.js';

const given = <T, R>(value: T | null | undefined, change: (value: T) => R): R | undefined =>
  value === null || value === undefined ? undefined : change(value);

/** The normal form of a filter. Throws 422 if nothing is left of it (contract 4.1). */
function normal(
  field: keyof SearchVisitsRequest,
  value: string | null | undefined,
  form: (value: string) => string,
): string | undefined {
  if (value === null || value === undefined) return undefined;
  const normalForm = form(value);
  if (!hasLetterOrDigit(normalForm)) throw noWords(field);
  return normalForm;
}

/** The filters and facets of a request. Throws 422 for a filter without words. */
export function toVisitSearch(
  organizationId: string,
  body: SearchVisitsRequest,
): Omit<VisitSearch, 'limit' | 'after' | 'skipsTotal'> {
  return {
    organizationId,
    audienceId: body.audience_id ?? undefined,
    country: normal('country', body.country, normalizeCountry),
    city: normal('city', body.city, foldValue),
    companyDomain: normal('company_domain', body.company_domain, normalizeDomain),
    browser: normal('browser', body.browser, normalizeWordStarts),
    platform: normal('platform', body.platform, normalizeWordStarts),
    hasRecording: body.has_recording ?? undefined,
    address: given(body.ip_address, (text) => addressRange(text) ?? undefined),
    startUrl: normal('start_url', body.start_url, normalizeUrlText),
    createdFrom: given(body.created_after, parseTimestamp),
    createdBefore: given(body.created_before, parseTimestamp),
    minIntentScore: body.min_intent_score ?? undefined,
    facets: body.facets ? [...new Set(body.facets)] : undefined,
  };
}
