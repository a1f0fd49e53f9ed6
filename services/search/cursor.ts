import { hash } from 'node:crypto';
import { integer, nullable, optional, Type, withDefault } from '../shared/schema.js';
import { isTimestampMs } from '../shared/time.js';
import { MAX_WEIGHT, sumOf, termsIn } from './partial.js';
import { type PartialMatch, readingsOf, type SortKey, type TextQuery } from './query.js';
import { Ranking } from './ranking.js';
import { isTime, sortOf } from './sort.js';

/** Fields of a request for cursor pages, other than its filters. */
export const cursorRequest = (noun: string) => ({
  limit: withDefault(optional(integer(`${noun} a page.`, { minimum: 1, maximum: 1000 })), 50),
  cursor: optional(
    Type.String({ description: '`next_cursor` of the page before, with the same filters.', maxLength: 2048 }),
  ),
});

/** Fields of the response other than its items. */
export const cursorResponse = (noun: string) => ({
  next_cursor: nullable(Type.String({ description: '`cursor` of the next page; null at the end.' })),
  total_count: integer(`How many ${noun} match, exactly.`, { minimum: 0 }),
});

/**
 * The search to which a cursor belongs: a cursor is valid only for the same search of the same organization. The page size may change
 * between pages.
 */
export interface CursorScope {
  operation: string;
  organizationId: string;
  /** Filters of the request, without cursor and limit. */
  filters: Record<string, unknown>;
}

/** The cursor of the page after `position`; null on the last page. */
export function writeCursor(scope: CursorScope, sortKey: SortKey | null): string | null {
  if (sortKey === null) return null;
  const { rank, createdAt, id, sorted, fallback, partial } = sortKey;
  // The order of the fields never changes, because `readCursor` compares texts.
  const reading = {
    ...(fallback && { fallback }),
    ...(partial && { partial: { weight: partial.weight, weights: partial.weights } }),
    ...(sorted !== undefined && { sorted }),
  };
  const hasReading = Object.keys(reading).length > 0;
  const fields = [scopeHash(scope), rank, createdAt, id, ...(hasReading ? [reading] : [])];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * Returns where the page begins, or why the cursor does not belong to this search. Checks every field. Also checks that the cursor is
 * exactly the text that `writeCursor` makes of the fields: stores get only positions at which a page of this search could have ended. This
 * needs no secret that gateways would have to share.
 */
export function readCursor(
  scope: CursorScope,
  cursor: string,
  query?: TextQuery,
): SortKey | { code: 'invalid_cursor' | 'cursor_mismatch'; detail: string } {
  const [scopeOf, rank, createdAt, id, given = {}] = decode(cursor);
  // Checked first, because another query or order invalidates everything else.
  if (typeof scopeOf === 'string' && scopeOf !== scopeHash(scope)) {
    const detail = 'cursor belongs to a search with other filters; repeat those, or start again without it.';
    return { code: 'cursor_mismatch', detail };
  }
  const reading = toReading(given, query);
  const sorted = toSorted(given, scope.filters);
  if (
    typeof scopeOf === 'string' &&
    isRank(rank, query) &&
    isTimestampMs(createdAt) &&
    typeof id === 'string' &&
    id.isWellFormed() &&
    reading !== null &&
    sorted !== null
  ) {
    const sortKey: SortKey = { rank, createdAt, id, ...reading, ...sorted };
    if (writeCursor(scope, sortKey) === cursor) return sortKey;
  }
  const detail = 'cursor is not one that this service gave out; start again without it.';
  return { code: 'invalid_cursor', detail };
}

/** Only ranked searches issue ranks other than 0. */
function isRank(value: unknown, query: TextQuery | undefined): value is number {
  const queries = query ? readingsOf(query).filter(({ required }) => required.length > 0) : [];
  const worst = Math.max(0, ...queries.map((each) => new Ranking(each).worst));
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= worst;
}

/** The value of the sort field; null if the list is ordered in another way. */
function toSorted(given: unknown, filters: CursorScope['filters']): Pick<SortKey, 'sorted'> | null {
  const { sorted } = (given ?? {}) as { sorted?: unknown };
  const { sort_by: by, sort_direction: direction } = filters;
  const sort = sortOf({
    sort_by: typeof by === 'string' ? by : undefined,
    sort_direction: direction === 'asc' ? direction : direction === 'desc' ? direction : undefined,
  });
  if (!sort) return sorted === undefined ? {} : null;
  const isOfSort = isTime(sort.by)
    ? isTimestampMs(sorted)
    : sorted === null || (typeof sorted === 'string' && sorted.isWellFormed());
  return isOfSort ? { sorted: sorted as SortKey['sorted'] } : null;
}

/** The reading of the query that the cursor names; null if this version has no such reading. */
function toReading(given: unknown, query: TextQuery | undefined): Reading | null {
  const { fallback, partial } = (given ?? { fallback: null }) as { [Name in keyof Reading]: unknown };
  const place = fallback ?? 0;
  if (!Number.isInteger(place) || fallback === 0) return null;
  const reading = query && readingsOf(query)[place as number];
  if (fallback !== undefined && !reading) return null;
  const found = partial === undefined ? undefined : toPartial(partial, reading);
  if (found === null) return null;
  return {
    ...(fallback !== undefined && { fallback: fallback as number }),
    ...(found && { partial: found }),
  };
}

type Reading = Pick<SortKey, 'fallback' | 'partial'>;

/** The partial match that the cursor names; null for a value that no search writes. */
function toPartial(value: unknown, query: TextQuery | undefined): PartialMatch | null {
  const { weight, weights } = (value ?? {}) as { [Name in keyof PartialMatch]?: unknown };
  const isWeight = (given: unknown) =>
    Number.isInteger(given) &&
    (given === 0 || ((given as number) <= MAX_WEIGHT && termsIn(given as number) === 1));
  const terms = query?.required.length ?? 0;
  if (!Array.isArray(weights) || weights.length !== terms || !weights.every(isWeight)) return null;
  if (!Number.isInteger(weight) || (weight as number) <= 0 || (weight as number) >= sumOf(weights) + 1)
    return null;
  const matched = termsIn(weight as number);
  return matched > 0 && matched < terms ? { matched, weight: weight as number, weights } : null;
}

function decode(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) && (value.length === 4 || value.length === 5) ? value : [];
  } catch {
    return [];
  }
}

export function scopeHash({ operation, organizationId, filters }: CursorScope): string {
  const sorted = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = hash('sha256', JSON.stringify([operation, organizationId, sorted]), 'buffer');
  return digest.toString('base64url').slice(0, 16);
}
