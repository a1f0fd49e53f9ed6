/** Requests to contact searches: pure, and the same for every store. */
import { type CursorScope, readCursor } from '../http/cursor.js';
import { invalid, noWords } from '../http/problems.js';
import { toTextQuery } from '../http/text-query.js';
import {
  normalizeCountry,
  normalizeDomain,
  normalizePostalCode,
  normalizeProfileUrl,
} from '../search/normalize.js';
import { type ContactCondition, type ContactSearch, type ValueField, WORD_FIELDS } from '../search/query.js';
import { words } from '../shared/text.js';
import type { SearchAudienceContactsRequest, SearchContactsRequest } from './schema.js';

export const DEFAULT_LIMIT = 50;
/** Each is a condition on every row (contract 3.8). */
const MAX_FILTER_WORDS = 32;

type Filters = Omit<SearchContactsRequest, 'organization_id' | 'query' | 'limit' | 'cursor'>;

/** The search a request asks for, and what its cursors belong to. Throws 422 for a bad query or cursor. */
export function toContactSearch(
  operation: string,
  organizationId: string,
  body: SearchContactsRequest | SearchAudienceContactsRequest,
): { search: ContactSearch; scope: CursorScope } {
  const { organization_id: _, limit, cursor, ...filters } = body;
  const scope = { operation, organizationId, filters };
  const query = 'query' in body ? toTextQuery(body.query) : undefined;
  return {
    scope,
    search: {
      organizationId,
      audienceId: 'audience_id' in body ? body.audience_id : undefined,
      conditions: toConditions(filters),
      query,
      limit: limit ?? DEFAULT_LIMIT,
      after: readCursor(scope, cursor, (query?.required.length ?? 0) > 0),
    },
  };
}

/** Conditions of the filters given. Throws 422 for one that says nothing: ignoring it would return everything. */
export function toConditions(filters: Filters): ContactCondition[] {
  const conditions: ContactCondition[] = [];
  for (const field of WORD_FIELDS) {
    const given = filters[field];
    if (!given) continue;
    conditions.push({ kind: 'words', field, words: filterWords(field, given) });
  }
  const add = (name: keyof Filters, field: ValueField, value: string) => {
    if (value === '') throw noWords(name);
    conditions.push({ kind: 'value', field, value });
  };
  if (filters.country) add('country', 'country', normalizeCountry(filters.country));
  if (filters.postal_code) add('postal_code', 'postal_code', normalizePostalCode(filters.postal_code));
  if (filters.company_domain)
    add('company_domain', 'company_domain', normalizeDomain(filters.company_domain));
  if (filters.network_a_url) {
    const url = normalizeProfileUrl(filters.network_a_url);
    add('network_a_url', url.includes('/') ? 'network_a_url' : 'network_a_slug', url);
  }
  return conditions;
}

/** The different words of a filter, without those that begin another: what matches the longer one matches them too. */
function filterWords(field: string, text: string): string[] {
  const different = [...new Set(words(text))].sort();
  if (different.length === 0) throw noWords(field);
  if (different.length > MAX_FILTER_WORDS) {
    throw invalid({
      pointer: `/${field}`,
      code: 'too_many_words',
      detail: `${field} has ${different.length} different words; at most ${MAX_FILTER_WORDS} are allowed.`,
    });
  }
  // In order, a word stands right before the words it begins.
  return different.filter((word, index) => !different[index + 1]?.startsWith(word));
}
