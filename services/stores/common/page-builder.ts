import type { SortKey } from '../../search/query.js';

const MIB = 1024 * 1024;

/** Bytes of the items of a page: with what stands around them an answer stays within 4 MiB (contract 3.10). */
const PAGE_BYTES = 4 * MIB - 16 * 1024;

/** One row more than a page holds tells whether there is a next page. */
export const rowsToFetch = (limit: number): number => limit + 1;

export interface PageBuilderOptions<Row, Item> {
  limit: number;
  toItem(row: Row): Item;
  /** The item as the answer holds it. */
  toJson(item: Item): string;
  sortKeyOf(row: Row): SortKey;
}

/** Fills a page up to `limit` items and 4 MiB, so that no answer grows with what records hold. */
export class PageBuilder<Row, Item> {
  readonly items: Item[] = [];
  readonly #options: PageBuilderOptions<Row, Item>;
  #bytes = 0;
  #last: Row | undefined;
  #next: SortKey | null = null;

  constructor(options: PageBuilderOptions<Row, Item>) {
    this.#options = options;
  }

  /** Bytes of the items. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many more items fit, estimated from those added. */
  get remainingItems(): number {
    const { length } = this.items;
    const fitting = length === 0 ? 1 : Math.ceil(((PAGE_BYTES - this.#bytes) * length) / this.#bytes);
    return Math.min(this.#options.limit - length, Math.max(fitting, 1));
  }

  /** Where the next page begins; null until a row found no room. */
  get next(): SortKey | null {
    return this.#next;
  }

  /** Adds the item of a row; false when the page is full. The first always fits, so that paging never stalls. */
  add(row: Row): boolean {
    const { limit, toItem, toJson, sortKeyOf } = this.#options;
    if (this.items.length < limit) {
      const item = toItem(row);
      // Items are joined by commas.
      const bytes = Buffer.byteLength(toJson(item)) + 1;
      if (this.items.length === 0 || this.#bytes + bytes <= PAGE_BYTES) {
        this.#bytes += bytes;
        this.items.push(item);
        this.#last = row;
        return true;
      }
    }
    this.#next = this.#last === undefined ? null : sortKeyOf(this.#last);
    return false;
  }
}
