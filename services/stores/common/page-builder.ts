import type { Json } from '../../shared/json.js';

const MIB = 1024 * 1024;

/** Bytes of the items of a page: with what stands around them an answer stays within 4 MiB (contract 3.10). */
const PAGE_BYTES = 4 * MIB - 16 * 1024;

/** One row more than the page: it shows whether there is a next page. */
export const rowsToFetch = (limit: number): number => limit + 1;

export interface PageBuilderOptions<Row, T> {
  limit: number;
  /** Bytes of what the answer holds besides the items, where they may be more than 16 KiB. */
  reservedBytes?: number;
  /** Bytes of what the answer holds besides each item. */
  reservedBytesPerItem?: number;
  /** The item as the answer holds it. */
  toJson(row: Row): Json<T>;
}

/** Fills a page up to `limit` items and 4 MiB, so that no answer grows with what records hold. */
export class PageBuilder<Row, T> {
  readonly items: Json<T>[] = [];
  readonly #options: PageBuilderOptions<Row, T>;
  readonly #maxBytes: number;
  #bytes = 0;
  #last: Row | null = null;
  #isFull = false;

  constructor(options: PageBuilderOptions<Row, T>) {
    this.#options = options;
    this.#maxBytes = PAGE_BYTES - (options.reservedBytes ?? 0);
  }

  /** Bytes of the items, with the bytes reserved for each. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many more items fit, estimated from those added. */
  get remainingItems(): number {
    const { length } = this.items;
    const fitting = length === 0 ? 1 : Math.ceil(((this.#maxBytes - this.#bytes) * length) / this.#bytes);
    return Math.min(this.#options.limit - length, Math.max(fitting, 1));
  }

  /** The last row of the page; null unless a row found no room. */
  get endsAfter(): Row | null {
    return this.#isFull ? this.#last : null;
  }

  /** Adds the item of a row; false when the page is full. The first always fits, so that paging never stalls. */
  add(row: Row): boolean {
    const { limit, toJson, reservedBytesPerItem = 0 } = this.#options;
    if (this.items.length < limit) {
      const item = toJson(row);
      // Items are joined by commas.
      const bytes = Buffer.byteLength(item) + 1 + reservedBytesPerItem;
      if (this.items.length === 0 || this.#bytes + bytes <= this.#maxBytes) {
        this.#bytes += bytes;
        this.items.push(item);
        this.#last = row;
        return true;
      }
    }
    this.#isFull = true;
    return false;
  }
}
