import type { estypes } from '@elastic/elasticsearch';
import type { Page, SortKey } from '../../search/query.js';
import { PageBudget } from '../common/page-budget.js';

type Sort = estypes.SortCombinations[];

const FIRST_HITS = 101;

/** One more than the limit tells whether there is a next page. */
export const hitsPerPage = (limit: number): number => limit + 1;

/** By score where there is one, then newest, then id: a total order, the same after a reindex and on every replica. */
export function pageSort(idField: string, scored: boolean): Sort {
  const newest: Sort = [{ created_at: 'desc' }, { [idField]: 'desc' }];
  return scored ? [{ _score: { order: 'desc' } }, ...newest] : newest;
}

/** The sort values of a position. */
export function after(
  position: SortKey | undefined,
  bestScore: number | null,
): estypes.SortResults | undefined {
  if (!position) return undefined;
  const { rank, createdAt, id } = position;
  return bestScore === null ? [createdAt, id] : [bestScore - rank, createdAt, id];
}

export function total(hits: { total?: estypes.SearchTotalHits | number }): number {
  return typeof hits.total === 'number' ? hits.total : (hits.total?.value ?? 0);
}

/**
 * Fetches a page. What the first hits take tells how many more are worth asking for: a thousand of the largest contacts would be a
 * gigabyte, of which a page takes 4 MiB.
 */
export async function fetchPage<Source, T>(
  request: estypes.SearchRequest,
  { limit, bestScore, toItem }: { limit: number; bestScore: number | null; toItem: (source: Source) => T },
  search: (request: estypes.SearchRequest) => Promise<estypes.SearchResponse<Source>>,
): Promise<{ page: Page<T>; bytes: number }> {
  const room = new PageBudget();
  const items: T[] = [];
  let part = { ...request, size: Math.min(hitsPerPage(limit), FIRST_HITS) };
  let count: number | undefined;
  let last: estypes.SortResults | undefined;
  for (;;) {
    const { hits } = await search(part);
    count ??= total(hits);
    for (const { _source, sort } of hits.hits) {
      const item = toItem(_source as Source);
      if (items.length >= limit || !room.take(JSON.stringify(item))) {
        const next = last ? position(last as (string | number)[], bestScore) : null;
        return { page: { items, total: count, next }, bytes: room.bytes };
      }
      items.push(item);
      last = sort;
    }
    if (hits.hits.length < part.size) return { page: { items, total: count, next: null }, bytes: room.bytes };
    const size = Math.min(hitsPerPage(limit) - items.length, Math.max(room.expected, 1) + 1);
    part = { ...request, size, search_after: last, track_total_hits: false };
  }
}

function position(sort: (string | number)[], bestScore: number | null): SortKey {
  const [createdAt, id] = sort.slice(-2) as [number, string];
  return { rank: bestScore === null ? 0 : bestScore - Number(sort[0]), createdAt, id };
}
