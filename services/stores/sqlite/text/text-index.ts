import type { Connection } from '../connection.js';
import type { RowId } from '../row-ids.js';

/** The full-text indexes, with their number in the vocabulary. */
export const TEXT_INDEXES = { contact_terms: 0, audience_terms: 1 } as const;
export type TextIndex = keyof typeof TEXT_INDEXES;

/** Pages merged per step, which takes about as long as a small write. */
const MERGE_PAGES = 64;

/** Collects changes of a text index to apply them in the order of row ids: FTS5 flushes at every row id lower than the one before. */
export class IndexChanges {
  readonly #connection: Connection;
  readonly #index: TextIndex;
  readonly #insert: string;
  readonly #changes = new Map<RowId, { existed: boolean; columns?: string[] }>();

  constructor(connection: Connection, index: TextIndex, columns: readonly string[]) {
    this.#connection = connection;
    this.#index = index;
    this.#insert = `INSERT INTO ${index} (rowid, ${columns.join(', ')}) VALUES (?${', ?'.repeat(columns.length)})`;
  }

  add(rowId: RowId, columns: string[]): void {
    this.#changes.set(rowId, { existed: false, columns });
  }

  replace(rowId: RowId, columns: string[]): void {
    this.#changes.set(rowId, { existed: this.#existed(rowId), columns });
  }

  remove(rowId: RowId): void {
    this.#changes.set(rowId, { existed: this.#existed(rowId) });
  }

  apply(): void {
    const sorted = [...this.#changes].sort(([left], [right]) => (left < right ? -1 : 1));
    for (const [rowId, { existed, columns }] of sorted) {
      if (existed) this.#connection.execute(`DELETE FROM ${this.#index} WHERE rowid = ?`, rowId);
      // NULL has no terms either, and is bound without a copy.
      if (columns) this.#connection.execute(this.#insert, rowId, ...columns.map((text) => text || null));
    }
    this.#changes.clear();
  }

  #existed(rowId: RowId): boolean {
    return this.#changes.get(rowId)?.existed ?? true;
  }
}

/** Merges a few of the segments that bulk loads leave, which slow searches down. False when nothing is left to merge. */
export function mergeSegments(connection: Connection, index: TextIndex): boolean {
  const changes = () => Number(connection.row<[bigint]>(`SELECT total_changes()`)?.[0]);
  const before = changes();
  connection.run(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`, MERGE_PAGES);
  // https://www.sqlite.org/fts5.html#the_merge_command: fewer than two changes mean that there was no work.
  return changes() - before >= 2;
}
