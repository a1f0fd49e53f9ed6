/** Requests to visit searches: pure, and the same for every store. */
import { type CursorScope, readCursor } from '../gateway/cursor.js';
import { addressRange, normalizeCountry, normalizeUrlText } from '../shared/normalize.js';
import { foldValue } from '../shared/text.js';
import type { VisitSearch } from '../stores/search-query.js';
import type { SearchVisitsRequest } from './schema.js';

const DEFAULT_LIMIT = 50;

const given = <T, R>(value: T | null | undefined, change: (value: T) => R): R | undefined =>
  value === null || value === undefined ? undefined : change(value);

/** The search a request asks for, and what its cursors belong to. Throws 422 for a bad cursor. */
export function toVisitSearch(
  operation: string,
  organizationId: string,
  body: SearchVisitsRequest,
): { search: VisitSearch; scope: CursorScope } {
  const { organization_id: _, limit, cursor, ...filters } = body;
  const scope = { operation, organizationId, filters };
  return {
    scope,
    search: {
      organizationId,
      audienceId: body.audience_id ?? undefined,
      country: given(body.country, normalizeCountry),
      city: given(body.city, foldValue),
      browser: given(body.browser, foldValue),
      platform: given(body.platform, foldValue),
      hasRecording: body.has_recording ?? undefined,
      address: given(body.ip_address, (text) => addressRange(text) ?? undefined),
      startUrl: given(body.start_url, normalizeUrlText),
      createdFrom: given(body.created_after, Date.parse),
      createdBefore: given(body.created_before, Date.parse),
      minIntentScore: body.min_intent_score ?? undefined,
      limit: limit ?? DEFAULT_LIMIT,
      after: readCursor(scope, cursor, false),
    },
  };
}
