import type { estypes } from '@elastic/elasticsearch';
import type { FacetedPage, Facets } from '../../search/facets.js';
import type { SortKey } from '../../search/query.js';
import type { Json } from '../../shared/json.js';
import { OverloadedError, StoreTimeoutError } from '../../shared/store-errors.js';
import { FIRST_ITEMS } from '../common/contact-batch.js';
import { InFlightBytes } from '../common/in-flight-bytes.js';
import { PageBuilder, rowsToFetch } from '../common/page-builder.js';
import type { Documents } from './documents.js';

type Sort = estypes.SortCombinations[];
export type Aggregations = Record<string, estypes.AggregationsAggregate>;

/**
 * Sorts by score if the search has a score, then newest first, then by id. This total order is the same after a reindex and on every
 * replica.
 */
export function pageSort(idField: string, scored: boolean): Sort {
  const newest: Sort = [{ created_at: 'desc' }, { [idField]: 'desc' }];
  return scored ? [{ _score: { order: 'desc' } }, ...newest] : newest;
}

/** The sort values of Elasticsearch for a sort key. */
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

/** Runs a read whose result may be large. The signal of the read aborts with the caller's signal, or at the deadline. */
export type BoundedRead = <T>(
  signal: AbortSignal | undefined,
  read: (signal: AbortSignal) => Promise<{ result: T; bytes: number }>,
) => Promise<T>;

/**
 * Bounds reads. Throws `OverloadedError` while too many bytes of responses are in flight, and `StoreTimeoutError` at the deadline, at which
 * the cluster cancels the search.
 */
export function boundedReads(timeoutMs: number): BoundedRead {
  const responses = new InFlightBytes(MAX_RESPONSE_BYTES);
  return async (signal, read) => {
    if (responses.isFull) throw new OverloadedError('records');
    const { result, bytes } = await withDeadline(signal, timeoutMs, read);
    responses.hold(bytes, signal);
    return result;
  };
}

/**
 * Runs a read with a deadline. The signal of `read` aborts with the caller's signal, or with `StoreTimeoutError` at the deadline, at which
 * the cluster cancels the search.
 */
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

interface HitPageForm<Source, T> {
  limit: number;
  /** Score of rank 0; null if the page is sorted by time alone. */
  bestScore: number | null;
  toJson(source: Source): Json<T>;
  /** Bytes that the facets of the page take. */
  reservedBytes?: number;
  reservedBytesPerItem?: number;
  explain?: boolean;
  /** Whether the request has its own sort, which replaces the sort by time. */
  isSorted?: boolean;
}

/** A request that finds a part of a page. */
export type PartRequest = estypes.SearchRequest & { size: number };

/**
 * The first part of a page. The size of its hits tells how many further hits to request: a thousand of the largest contacts would be a
 * gigabyte, of which a page takes 4 MiB.
 */
export const firstPart = (request: estypes.SearchRequest, limit: number): PartRequest => ({
  ...request,
  size: Math.min(rowsToFetch(limit), FIRST_ITEMS),
});

/** A page that is filled part by part. */
export class HitPage<Source, T> {
  readonly #form: HitPageForm<Source, T>;
  readonly #builder: PageBuilder<estypes.SearchHit<Source>, T>;
  readonly #ranks: number[] = [];

  constructor(form: HitPageForm<Source, T>) {
    const { limit, reservedBytes, reservedBytesPerItem, toJson } = form;
    this.#form = form;
    this.#builder = new PageBuilder({
      limit,
      reservedBytes,
      reservedBytesPerItem,
      toJson: ({ _source }) => toJson(_source as Source),
    });
  }

  /** Takes the hits of a part. Returns the next part, or null if the page is complete. */
  take(part: PartRequest, hits: readonly estypes.SearchHit<Source>[]): PartRequest | null {
    const isFull = hits.some((hit) => !this.#add(hit));
    if (isFull || hits.length < part.size) return null;
    return {
      ...part,
      size: rowsToFetch(this.#builder.remainingItems),
      search_after: hits.at(-1)?.sort,
      track_total_hits: false,
      aggs: undefined,
    };
  }

  #add(hit: estypes.SearchHit<Source>): boolean {
    const { explain, bestScore } = this.#form;
    const added = this.#builder.add(hit);
    if (added && explain) this.#ranks.push(hitKey(hit, bestScore).rank);
    return added;
  }

  get items(): Json<T>[] {
    return this.#builder.items;
  }

  /** Sort key at which the next page begins; null after the last page. */
  get next(): SortKey | null {
    const { endsAfter } = this.#builder;
    const { isSorted, bestScore } = this.#form;
    return endsAfter && (isSorted ? sortedKey(endsAfter) : hitKey(endsAfter, bestScore));
  }

  /** Ranks of the items, if the search asks for ranks. */
  get ranks(): { ranks?: number[] } {
    return this.#form.explain ? { ranks: this.#ranks } : {};
  }

  get bytes(): number {
    return this.#builder.bytes + (this.#form.reservedBytes ?? 0);
  }
}

export const bytesOfFacets = (facets: object | undefined): number =>
  facets ? Buffer.byteLength(JSON.stringify(facets)) : 0;

/** Fetches a page of documents. `toFacets` reads the facets from the aggregations of the request. */
export async function fetchPage<Source, T, Field extends string = never>(
  documents: Pick<Documents<Source>, 'search'>,
  request: estypes.SearchRequest,
  {
    toFacets,
    ...form
  }: HitPageForm<Source, T> & { toFacets?(aggregations: Aggregations): Promise<Facets<Field>> },
  signal?: AbortSignal,
): Promise<{ result: FacetedPage<Json<T>, Field>; bytes: number }> {
  let part: PartRequest | null = firstPart(request, form.limit);
  let response = await documents.search(part, signal);
  const total = totalHits(response.hits);
  const facets = request.aggs && (await toFacets?.(response.aggregations ?? {}));
  const page = new HitPage<Source, T>({ ...form, reservedBytes: bytesOfFacets(facets) });
  for (;;) {
    part = page.take(part, response.hits.hits);
    if (!part) break;
    response = await documents.search(part, signal);
  }
  const { items, next, bytes } = page;
  return { result: { items, total, next, ...(facets ? { facets } : {}) }, bytes };
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
