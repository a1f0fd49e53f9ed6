import { identifier, joinSql, type Sql, sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import type { RowId } from '../row-ids.js';

/** The full-text indexes, with their number in the vocabulary. */
export const TEXT_INDEXES = { contact_terms: 0, audience_terms: 1 } as const;
export type TextIndex = keyof typeof TEXT_INDEXES;

export const INDEX_NAMES: Readonly<Record<TextIndex, Sql>> = {
  contact_terms: identifier('contact_terms'),
  audience_terms: identifier('audience_terms'),
};

const DATA_TABLES: Readonly<Record<TextIndex, Sql>> = {
  contact_terms: identifier('contact_terms_data'),
  audience_terms: identifier('audience_terms_data'),
};

const DOCUMENT_TABLES: Readonly<Record<TextIndex, Sql>> = {
  contact_terms: identifier('contact_terms_docsize'),
  audience_terms: identifier('audience_terms_docsize'),
};

/** Pages that a step merges; this takes about as long as a small write. */
const MERGE_PAGES = 64;

/**
 * Collects changes of a text index, to apply them in the order of row ids: FTS5 flushes at every row id that is lower than the one before.
 * A row must be removed with the column texts that it was added with.
 */
export class IndexChanges {
  readonly #connection: Connection;
  readonly #textIndex: TextIndex;
  readonly #insert: Sql;
  readonly #delete: Sql;
  readonly #changes = new Map<RowId, { before?: readonly string[]; after?: readonly string[] }>();

  constructor(connection: Connection, textIndex: TextIndex, columns: readonly Sql[]) {
    this.#connection = connection;
    const index = INDEX_NAMES[textIndex];
    this.#textIndex = textIndex;
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

  apply(): void {
    if ([...this.#changes.values()].some(({ before }) => before))
      noteRemoval(this.#connection, this.#textIndex);
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

/**
 * Merges a few of the segments that bulk loads leave, because many segments slow searches down. Returns false if no segment is left to
 * merge.
 */
export function mergeSegments(connection: Connection, index: TextIndex): boolean {
  return merge(connection, index, MERGE_PAGES);
}

/** A negative number of pages begins to merge all segments into one (https://www.sqlite.org/fts5.html#the_merge_command). */
function merge(connection: Connection, index: TextIndex, pages: number): boolean {
  const changes = () => Number(connection.row<[bigint]>(sql`SELECT total_changes()`)?.[0]);
  const before = changes();
  const name = INDEX_NAMES[index];
  connection.run(sql`INSERT INTO ${name} (${name}, rank) VALUES ('merge', ?)`, pages);
  // A difference of less than two changes means that there was no work.
  return changes() - before >= 2;
}

/** Counts a transaction that removes or replaces rows. Their words stay in older segments until a `SegmentRewrite`. */
function noteRemoval(connection: Connection, index: TextIndex): void {
  connection.run(sql`UPDATE counters SET value = value + 1 WHERE name = ?`, `${index}_removals`);
}

const counter = (connection: Connection, name: string) =>
  connection.number(sql`SELECT value FROM counters WHERE name = ?`, name) ?? 0;

/** Whether a segment may hold words of removed or replaced rows. */
export const hasRemovals = (connection: Connection, index: TextIndex): boolean =>
  counter(connection, `${index}_removals`) !== counter(connection, `${index}_removals_gone`);

/** Row id that no contact uses: row ids of contacts are not negative, and terms of organizations do not begin with an exclamation mark. */
const MARKER_ROW = -1n;
const FILLER_ROW = -2n;
const FILLER_TERMS = 3000;
const FILLER = Array.from(
  { length: FILLER_TERMS },
  (_, index) => `!${(index * 7919 + 100_000).toString(36)}`,
).join(' ');

/**
 * Merges all segments of an index into one, in steps. FTS5 never overwrites a word: it writes a deletion mark in a newer segment, and drops
 * word and mark only once the two segments merge, which may never happen for the large segments of a first load. After the rewrite, the
 * index holds nothing of rows that were removed before.
 */
export class SegmentRewrite {
  readonly #connection: Connection;
  readonly #index: TextIndex;
  readonly #removals: number;
  /** Ids of the segments that existed before the rewrite and still remain. */
  #old: Set<number>;

  /** Whether FTS5 drops deletion marks. It does so if, judging by level numbers, no older segment may exist. */
  #dropsMarks = false;

  /** Begins the rewrite, in its own transactions. */
  constructor(connection: Connection, index: TextIndex) {
    this.#connection = connection;
    this.#index = index;
    this.#old = new Set();
    this.#removals = counter(connection, `${index}_removals`);
    this.#begin();
  }

  /** Does one step in its own transaction. Returns true once no segment from before the rewrite is left. */
  step(): boolean {
    const { ids, isMerging } = this.#segments();
    // FTS5 may reuse ids of old segments for new segments, which can delay the end of the rewrite but not bring it forward.
    this.#keepOld(ids);
    if (this.#old.size > 0) {
      if (isMerging)
        this.#connection.writeTransaction(() => merge(this.#connection, this.#index, MERGE_PAGES));
      else this.#begin();
      this.#keepOld(this.#segments().ids);
    }
    if (this.#old.size > 0) return false;
    if (!this.#dropsMarks) {
      this.#begin();
      return false;
    }
    const done = sql`UPDATE counters SET value = max(value, ?) WHERE name = ?`;
    this.#connection.run(done, this.#removals, `${this.#index}_removals_gone`);
    return true;
  }

  #begin(): void {
    this.#connection.writeTransaction(() => this.#addFiller());
    this.#connection.writeTransaction(() => {
      // Writes a new segment, because FTS5 does not rewrite a segment that is alone, and that segment may hold a deletion mark.
      const name = INDEX_NAMES[this.#index];
      const [add, remove] = [
        sql`INSERT INTO ${name} (rowid, exact) VALUES (?, '!marker')`,
        sql`INSERT INTO ${name} (${name}, rowid, exact) VALUES ('delete', ?, '!marker')`,
      ];
      this.#connection.run(add, MARKER_ROW);
      this.#connection.run(remove, MARKER_ROW);
    });
    this.#connection.writeTransaction(() => {
      const { ids, levels, usedLevels } = this.#segments();
      this.#old = new Set(ids);
      // Segments of several levels go to a new last level. Segments of one level go to the next level, which may not be the last.
      this.#dropsMarks = usedLevels.length !== 1 || levels <= (usedLevels[0] as number) + 2;
      merge(this.#connection, this.#index, -MERGE_PAGES);
    });
  }

  /** Adds a row of several pages. Otherwise, FTS5 would move small merge results to the level of the marker. */
  #addFiller(): void {
    const has = sql`SELECT 1 FROM ${DOCUMENT_TABLES[this.#index]} WHERE id = ?`;
    if (this.#connection.row(has, FILLER_ROW)) return;
    const name = INDEX_NAMES[this.#index];
    this.#connection.run(sql`INSERT INTO ${name} (rowid, exact) VALUES (?, ?)`, FILLER_ROW, FILLER);
  }

  #keepOld(ids: readonly number[]): void {
    const left = new Set(ids);
    this.#old = new Set([...this.#old].filter((id) => left.has(id)));
  }

  #segments(): Structure {
    const [record] = this.#connection.row<[Uint8Array]>(
      sql`SELECT block FROM ${DATA_TABLES[this.#index]} WHERE id = ${STRUCTURE_ROW}`,
    ) ?? [new Uint8Array()];
    return parseStructure(record);
  }
}

/** FTS5_STRUCTURE_ROWID of https://sqlite.org/src/file/ext/fts5/fts5_index.c, which describes the record. */
const STRUCTURE_ROW = 10;
const COOKIE_BYTES = 4;

interface Structure {
  /** Ids of all segments. */
  ids: number[];
  isMerging: boolean;
  levels: number;
  /** Numbers of the levels that have segments. */
  usedLevels: number[];
}

function parseStructure(record: Uint8Array): Structure {
  let at = COOKIE_BYTES;
  const next = (): number => {
    let value = 0;
    for (;;) {
      const byte = record[at++] ?? 0;
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  };
  const levels = next();
  next(); // Skips the number of segments of all levels.
  next(); // Skips the number of pages written so far.
  const ids: number[] = [];
  const usedLevels: number[] = [];
  let isMerging = false;
  for (let level = 0; level < levels; level++) {
    if (next() > 0) isMerging = true;
    const segments = next();
    if (segments > 0) usedLevels.push(level);
    for (let left = segments; left > 0; left--) {
      ids.push(next());
      next(); // Skips the first page of the segment.
      next(); // Skips its last page.
    }
  }
  return { ids, isMerging, levels, usedLevels };
}
