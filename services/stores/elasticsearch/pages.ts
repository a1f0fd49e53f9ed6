import type { estypes } from '@elastic/elasticsearch';
import { fillPage } from '../page-room.js';
import type { Page, Position } from '../search-query.js';

type Sort = estypes.SortCombinations[];

/** One more than asked for tells whether there is a next page. */
export const pageSize = (limit: number): number => limit + 1;

/** By score where there is one, then newest, then id: total, and the same after a rebuild or on another copy. */
export function pageSort(idField: string, scored: boolean): Sort {
  const newest: Sort = [{ created_at: 'desc' }, { [idField]: 'desc' }];
  return scored ? [{ _score: { order: 'desc' } }, ...newest] : newest;
}

/** The sort values of a position. */
export function after(
  position: Position | undefined,
  bestScore: number | null,
): estypes.SortResults | undefined {
  if (!position) return undefined;
  const { rank, createdAt, id } = position;
  return bestScore === null ? [createdAt, id] : [bestScore - rank, createdAt, id];
}

export function total(hits: { total?: estypes.SearchTotalHits | number }): number {
  return typeof hits.total === 'number' ? hits.total : (hits.total?.value ?? 0);
}

export function toPage<Source, T>(
  { hits }: estypes.SearchResponse<Source>,
  limit: number,
  bestScore: number | null,
  toItem: (source: Source) => T,
): Page<T> {
  const found = hits.hits.map((hit) => ({ hit, item: toItem(hit._source as Source) }));
  const { page } = fillPage(found, limit, ({ item }) => JSON.stringify(item));
  const last = page.at(-1)?.hit;
  return {
    items: page.map(({ item }) => item),
    total: total(hits),
    next:
      hits.hits.length > page.length && last ? position(last.sort as (string | number)[], bestScore) : null,
  };
}

function position(sort: (string | number)[], bestScore: number | null): Position {
  const [createdAt, id] = sort.slice(-2) as [number, string];
  return { rank: bestScore === null ? 0 : bestScore - Number(sort[0]), createdAt, id };
}
