/** Requests to visit searches: pure, and the same for every store. */
import { type CursorScope, DEFAULT_LIMIT, readCursor } from '../http/cursor.js';
import { noWords } from '../http/problems.js';
import { normalizeCountry } from '../search/countries.js';
import { normalizeUrlText, normalizeWordStarts } from '../search/normalize.js';
import { addressRange } from '../shared/ip-address.js';
import { foldValue } from '../shared/text.js';
import { parseTimestamp } from '../shared/time.js';
import type { SearchVisitsRequest } from './schema.js';
import type { VisitSearch } from './visit-store.js';

const given = <T, R>(value: T | null | undefined, change: (value: T) => R): R | undefined =>
  value === null || value === undefined ? undefined : change(value);

/** The normal form of a filter. Throws 422 for one of which nothing is left (contract 4.1). */
function normal(
  field: keyof SearchVisitsRequest,
  value: string | null | undefined,
  form: (value: string) => string,
): string | undefined {
  if (value === null || value === undefined) return undefined;
  const normalForm = form(value);
  if (normalForm === '') throw noWords(field);
  return normalForm;
}

/** The search a request asks for, and what its cursors belong to. Throws 422 for a filter without words or a bad cursor. */
export function toVisitSearch(
  operation: string,
  organizationId: string,
  body: SearchVisitsRequest,
): { search: VisitSearch; scope: CursorScope } {
  const { organization_id: _, facets, limit, cursor, ...filters } = body;
  const scope = { operation, organizationId, filters };
  return {
    scope,
    search: {
      organizationId,
      audienceId: body.audience_id ?? undefined,
      country: normal('country', body.country, normalizeCountry),
      city: normal('city', body.city, foldValue),
      browser: normal('browser', body.browser, normalizeWordStarts),
      platform: normal('platform', body.platform, normalizeWordStarts),
      hasRecording: body.has_recording ?? undefined,
      address: given(body.ip_address, (text) => addressRange(text) ?? undefined),
      startUrl: normal('start_url', body.start_url, normalizeUrlText),
      createdFrom: given(body.created_after, parseTimestamp),
      createdBefore: given(body.created_before, parseTimestamp),
      minIntentScore: body.min_intent_score ?? undefined,
      facets: facets ? [...new Set(facets)] : undefined,
      limit: limit ?? DEFAULT_LIMIT,
      after: readCursor(scope, cursor, false),
    },
  };
}
