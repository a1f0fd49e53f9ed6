/** Counts how often each value of a field occurs among all matches of a search (contract 3.10). */
import { compareCodePoints } from '../shared/text.js';
import type { Page } from './query.js';

export const MAX_FACET_VALUES = 20;

/** A value, and the number of matches with it. */
export interface FacetCount {
  value: string;
  count: number;
}

/** Counts by field. */
export type Facets<Field extends string> = { [Name in Field]?: FacetCount[] };

/** A page with the requested facets. */
export interface FacetedPage<T, Field extends string> extends Page<T> {
  facets?: Facets<Field>;
}

/** The 20 most frequent values, by descending count, then by code points. */
export function mostFrequent(counts: ReadonlyMap<string, number>): FacetCount[] {
  const top: FacetCount[] = [];
  for (const [value, count] of counts) {
    const isBefore = (other: FacetCount) =>
      count === other.count ? compareCodePoints(value, other.value) < 0 : count > other.count;
    const last = top[MAX_FACET_VALUES - 1];
    if (last && !isBefore(last)) continue;
    const index = top.findIndex(isBefore);
    top.splice(index === -1 ? top.length : index, 0, { value, count });
    top.length = Math.min(top.length, MAX_FACET_VALUES);
  }
  return top;
}
