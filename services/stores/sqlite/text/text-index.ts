import { identifier, joinSql, type Sql, sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import type { RowId } from '../row-ids.js';
import { anyOf, exactTerm } from './fts-query.js';

/** The full-text indexes, with their number in the vocabulary. */
export const TEXT_INDEXES = { contact_terms: 0, audience_terms: 1 } as const;
export type TextIndex = keyof typeof TEXT_INDEXES;

export const INDEX_NAMES: Readonly<Record<TextIndex, Sql>> = {
  contact_terms: identifier('contact_terms'),
  audience_terms: identifier('audience_terms'),
};

/** Pages merged per step, which takes about as long as a small write. */
const MERGE_PAGES = 64;
const TERMS_PER_QUERY = 100;

/**
 * Collects changes of a text index to apply them in the order of row ids: FTS5 flushes at every row id lower than the one before. A row is
 * removed by the columns that it was added with.
 */
export class IndexChanges {
  readonly #connection: Connection;
  readonly #index: Sql;
  readonly #insert: Sql;
  readonly #delete: Sql;
  readonly #changes = new Map<RowId, { before?: readonly string[]; after?: readonly string[] }>();

  constructor(connection: Connection, textIndex: TextIndex, columns: readonly Sql[]) {
    this.#connection = connection;
    const index = INDEX_NAMES[textIndex];
    this.#index = index;
    const names = joinSql(columns, ', ');
    const values = joinSql(
      columns.map(() => sql`?`),
      ', ',
    );
    this.#insert = sql`INSERT INTO ${index} (rowid, ${names}) VALUES (?, ${values})`;
    this.#delete = sql`INSERT INTO ${index} (${index}, rowid, ${names}) VALUES ('delete', ?, ${values})`;
  }

  add(rowId: RowId, columns: readonly string[]): void {
    this.#changes.set(rowId, { before: this.#changes.get(rowId)?.before, after: columns });
  }

  replace(rowId: RowId, before: readonly string[], columns: readonly string[]): void {
    this.remove(rowId, before);
    this.add(rowId, columns);
  }

  remove(rowId: RowId, columns: readonly string[]): void {
    const change = this.#changes.get(rowId);
    this.#changes.set(rowId, { before: change ? change.before : columns });
  }

  /**
   * As `apply`, but leaves no term of what is removed in older segments: milliseconds a row, as each of its terms rewrites a page. It
   * takes a term out of the newest segment that has it. A row that was changed may have it in an older one as well, where a merge has
   * dropped the mark between the two that hid it; such a row is added and removed once more, which leaves a mark above all.
   */
  applySecurely(): void {
    const secureDelete = sql`INSERT INTO ${this.#index} (${this.#index}, rank) VALUES ('secure-delete', ?)`;
    const removed = [...this.#changes].filter(([, { after }]) => after === undefined);
    // Both flush what was changed before.
    this.#connection.run(secureDelete, 1);
    this.apply();
    this.#connection.run(secureDelete, 0);
    for (const [rowId, { before }] of removed) {
      if (!before || !this.#isFound(rowId, before)) continue;
      this.add(rowId, before);
      this.apply();
      this.remove(rowId, before);
      this.apply();
    }
  }

  #isFound(rowId: RowId, columns: readonly string[]): boolean {
    const terms = [...new Set(columns.flatMap((text) => text.split(' ')))].filter((term) => term !== '');
    for (let start = 0; start < terms.length; start += TERMS_PER_QUERY) {
      const some = terms.slice(start, start + TERMS_PER_QUERY);
      const query = anyOf(some.map(exactTerm));
      const found = sql`SELECT 1 FROM ${this.#index} WHERE ${this.#index} MATCH ? AND rowid = ?`;
      if (this.#connection.row(found, query.text, rowId)) return true;
    }
    return false;
  }

  apply(): void {
    const sorted = [...this.#changes].sort(([left], [right]) => (left < right ? -1 : 1));
    for (const [rowId, { before, after }] of sorted) {
      if (before) this.#connection.execute(this.#delete, rowId, ...before.map(orNull));
      if (after) this.#connection.execute(this.#insert, rowId, ...after.map(orNull));
    }
    this.#changes.clear();
  }
}

/** NULL has no terms either, and is bound without a copy. */
const orNull = (text: string) => text || null;

/** Merges a few of the segments that bulk loads leave, which slow searches down. False when nothing is left to merge. */
export function mergeSegments(connection: Connection, index: TextIndex): boolean {
  const changes = () => Number(connection.row<[bigint]>(sql`SELECT total_changes()`)?.[0]);
  const name = INDEX_NAMES[index];
  const before = changes();
  connection.run(sql`INSERT INTO ${name} (${name}, rank) VALUES ('merge', ?)`, MERGE_PAGES);
  // https://www.sqlite.org/fts5.html#the_merge_command: fewer than two changes mean that there was no work.
  return changes() - before >= 2;
}
