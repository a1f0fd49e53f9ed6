const MIB = 1024 * 1024;

/** Bytes of the items of a page: with what stands around them an answer stays within 4 MiB (contract 3.10). */
export const PAGE_BYTES = 4 * MIB - 16 * 1024;

/** What of a page is still free. Every store ends its pages by it, so that no answer grows with what records hold. */
export class PageBudget {
  #left = PAGE_BYTES;
  #items = 0;

  /** Bytes of the items taken. */
  get bytes(): number {
    return PAGE_BYTES - this.#left;
  }

  /** How many more items may fit, judged by those taken. */
  get expected(): number {
    return this.#items === 0 ? 1 : Math.ceil((this.#left * this.#items) / this.bytes);
  }

  /** Takes one more item, as JSON; false when the page is full. The first always fits, so that every page goes on. */
  take(json: string): boolean {
    // The items are joined by commas.
    const bytes = Buffer.byteLength(json) + 1;
    if (this.#items > 0 && bytes > this.#left) return false;
    this.#left -= bytes;
    this.#items++;
    return true;
  }
}

/** As many of the rows, in order, as are asked for and as fit. */
export function fillPage<Row>(
  rows: Iterable<Row>,
  limit: number,
  read: (row: Row) => string,
): { page: Row[]; items: string[] } {
  const room = new PageBudget();
  const page: Row[] = [];
  const items: string[] = [];
  for (const row of rows) {
    if (page.length >= limit) break;
    const json = read(row);
    if (!room.take(json)) break;
    page.push(row);
    items.push(json);
  }
  return { page, items };
}
