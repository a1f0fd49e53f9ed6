import type { Json } from '../../shared/json.js';

const MIB = 1024 * 1024;

/** Maximum bytes of the items of a page. With the other fields of the page, a response stays within 4 MiB (contract 3.10). */
const PAGE_BYTES = 4 * MIB - 16 * 1024;

/** Number of rows to read for a page: one more than the page has, which shows whether there is a next page. */
export const rowsToFetch = (limit: number): number => limit + 1;

export interface PageBuilderOptions<Row, T> {
  limit: number;
  /** Bytes of the response without its items; only if these may exceed 16 KiB. */
  reservedBytes?: number;
  /** Bytes that the response needs for each item besides the item itself. */
  reservedBytesPerItem?: number;
  /** The item as it appears in the response. */
  toJson(row: Row): Json<T>;
}

/** Fills a page up to `limit` items and 4 MiB, so that the size of a response does not grow with the size of records. */
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

  /** Bytes of the items, including the bytes reserved for each. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of items that still fit, estimated from the items added so far. */
  get remainingItems(): number {
    const { length } = this.items;
    const fitting = length === 0 ? 1 : Math.ceil(((this.#maxBytes - this.#bytes) * length) / this.#bytes);
    return Math.min(this.#options.limit - length, Math.max(fitting, 1));
  }

  /** The last row of the page; null if all rows had room. */
  get endsAfter(): Row | null {
    return this.#isFull ? this.#last : null;
  }

  /** Adds the item of a row. Returns false if the page is full. The first item always fits, so that paging never stalls. */
  add(row: Row): boolean {
    const { limit, toJson, reservedBytesPerItem = 0 } = this.#options;
    if (this.items.length < limit) {
      const item = toJson(row);
      // Includes the comma between items.
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
