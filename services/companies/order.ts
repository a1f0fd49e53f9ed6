/** Order and parts of a list that one request reads as a whole. The functions have no side effects of their own. */
import type { MatchPage } from '../http/endpoint.js';
import { compareCodePoints } from '../shared/text.js';

/** Sorts items by a key: unknown keys come last in both directions, and equal keys are ordered by domain. */
export function sortByKey<Item extends { domain: string }>(
  items: readonly Item[],
  keyOf: (item: Item) => number | string | null,
  descending: boolean,
): Item[] {
  const sign = descending ? -1 : 1;
  const compare = (one: number | string | null, other: number | string | null): number => {
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    if (typeof one === 'string') return sign * compareCodePoints(one, other as string);
    return sign * (one - (other as number));
  };
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort(
      (left, right) => compare(left.key, right.key) || compareCodePoints(left.item.domain, right.item.domain),
    )
    .map(({ item }) => item);
}

/** Items that an export completes and sends at once. */
const EXPORT_ITEMS = 200;

/** The next part of an export. `next` is what the part before returned as `next`; the first part, which has none, reads the whole list. */
export async function readInParts<Entry>(
  next: unknown,
  readAll: () => Promise<Entry[]>,
  complete: (some: Entry[]) => Promise<object[]>,
): Promise<MatchPage> {
  const { entries, at } = (next as { entries: Entry[]; at: number } | undefined) ?? {
    entries: await readAll(),
    at: 0,
  };
  const end = at + EXPORT_ITEMS;
  return {
    items: await complete(entries.slice(at, end)),
    total: entries.length,
    next: end < entries.length ? { entries, at: end } : null,
  };
}
