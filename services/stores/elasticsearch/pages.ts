import type { estypes } from '@elastic/elasticsearch';
import type { FacetedPage, Facets } from '../../search/facets.js';
import type { SortKey } from '../../search/query.js';
import type { Json } from '../../shared/json.js';
import { OverloadedError, StoreTimeoutError } from '../../shared/store-errors.js';
import { FIRST_ITEMS } from '../common/contact-batch.js';
import { InFlightBytes } from '../common/in-flight-bytes.js';
import { PageBuilder, rowsToFetch } from '../common/page-builder.js';

type Sort = estypes.SortCombinations[];

/** Sorts by score if there is one, then newest first, then by id. This total order is the same after a reindex and on every replica. */
export function pageSort(idField: string, scored: boolean): Sort {
  const newest: Sort = [{ created_at: 'desc' }, { [idField]: 'desc' }];
  return scored ? [{ _score: { order: 'desc' } }, ...newest] : newest;
}

/** The sort values of a sort key. */
export function searchAfter(
  key: SortKey | undefined,
  bestScore: number | null,
): estypes.SortResults | undefined {
  if (!key) return undefined;
  const { rank, createdAt, id, sorted } = key;
  if (sorted !== undefined) return [sorted, id];
  return bestScore === null ? [createdAt, id] : [bestScore - rank, createdAt, id];
}

export function totalHits(hits: { total?: estypes.SearchTotalHits | number }): number {
  return typeof hits.total === 'number' ? hits.total : (hits.total?.value ?? 0);
}

/** Bytes of unsent responses above which searches are rejected. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Runs a read whose result may be large. Its signal aborts with the caller's, or at the deadline. */
export type Bounded = <T>(
  signal: AbortSignal | undefined,
  read: (signal: AbortSignal) => Promise<{ result: T; bytes: number }>,
) => Promise<T>;

/**
 * Throws `OverloadedError` while too many bytes of responses are in flight, and `StoreTimeoutError` at the deadline, at which the cluster
 * cancels the search.
 */
export function boundedReads(timeoutMs: number): Bounded {
  const responses = new InFlightBytes(MAX_RESPONSE_BYTES);
  return async (signal, read) => {
    if (responses.isFull) throw new OverloadedError('records');
    const { result, bytes } = await withDeadline(signal, timeoutMs, read);
    responses.hold(bytes, signal);
    return result;
  };
}

/** The signal of `read` aborts with the caller's, or with `StoreTimeoutError` at the deadline, at which the cluster cancels the search. */
export async function withDeadline<T>(
  signal: AbortSignal | undefined,
  timeoutMs: number,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new StoreTimeoutError('records')), timeoutMs);
  try {
    return await read(signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal);
  } finally {
    clearTimeout(timer);
  }
}

interface PageForm<Source, T, Field extends string> {
  limit: number;
  /** Score of rank 0; null if sorted by time alone. */
  bestScore: number | null;
  toJson(source: Source): Json<T>;
  reservedBytesPerItem?: number;
  explain?: boolean;
  /** Whether the request has its own sort instead of the time. */
  isSorted?: boolean;
  /** Reads the facets from the aggregations of the request. */
  toFacets?(
    aggregations: Record<string, estypes.AggregationsAggregate>,
    query: estypes.QueryDslQueryContainer | undefined,
  ): Facets<Field> | Promise<Facets<Field>>;
}

/**
 * Fetches a page. The size of the first hits tells how many more to fetch: a thousand of the largest contacts would be a gigabyte, but a
 * page takes 4 MiB.
 */
export async function fetchPage<Source, T, Field extends string = never>(
  request: estypes.SearchRequest,
  { limit, bestScore, toJson, toFacets, reservedBytesPerItem, explain, isSorted }: PageForm<Source, T, Field>,
  search: (request: estypes.SearchRequest) => Promise<estypes.SearchResponse<Source>>,
): Promise<{ result: FacetedPage<Json<T>, Field>; bytes: number }> {
  let part = { ...request, size: Math.min(rowsToFetch(limit), FIRST_ITEMS) };
  let response = await search(part);
  const total = totalHits(response.hits);
  const facets = request.aggs && (await toFacets?.(response.aggregations ?? {}, request.query));
  const reservedBytes = facets ? Buffer.byteLength(JSON.stringify(facets)) : 0;
  const builder = new PageBuilder<estypes.SearchHit<Source>, T>({
    limit,
    reservedBytes,
    reservedBytesPerItem,
    toJson: ({ _source }) => toJson(_source as Source),
  });
  const ranks: number[] = [];
  const isFullAt = (hit: estypes.SearchHit<Source>) => {
    const added = builder.add(hit);
    if (added && explain) ranks.push(hitKey(hit, bestScore).rank);
    return !added;
  };
  for (;;) {
    const { hits } = response.hits;
    const isFull = hits.some(isFullAt);
    if (isFull || hits.length < part.size) {
      const { items, endsAfter } = builder;
      const next = endsAfter && (isSorted ? sortedKey(endsAfter) : hitKey(endsAfter, bestScore));
      const result = { items, total, next, ...(facets ? { facets } : {}), ...(explain ? { ranks } : {}) };
      return { result, bytes: builder.bytes + reservedBytes };
    }
    const size = rowsToFetch(builder.remainingItems);
    part = { ...request, size, search_after: hits.at(-1)?.sort, track_total_hits: false, aggs: undefined };
    response = await search(part);
  }
}

const hitKey = ({ sort }: estypes.SearchHit<unknown>, bestScore: number | null): SortKey =>
  sortKey(sort as (string | number)[], bestScore);

const sortedKey = ({ sort }: estypes.SearchHit<unknown>): SortKey => {
  const [sorted, id] = sort as [string | number | null, string];
  return { rank: 0, createdAt: 0, id, sorted };
};

export function sortKey(sort: (string | number)[], bestScore: number | null): SortKey {
  const [createdAt, id] = sort.slice(-2) as [number, string];
  return { rank: bestScore === null ? 0 : bestScore - Number(sort[0]), createdAt, id };
}
