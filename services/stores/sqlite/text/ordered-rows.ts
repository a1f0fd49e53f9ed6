import type { SortKey } from '../../../search/query.js';
import type { Connection, SqlValue } from '../connection.js';
import { bucketEnd, bucketStart, bucketStartAt, LAST_ROW_ID, type RowId } from '../row-ids.js';
import type { FtsQuery } from './fts-query.js';

/** Where the rows of a search come from. All of it is one organization's. */
export interface RowSource {
  /** Table with organization, position, created_ms and id. */
  rows: 'contacts' | 'audiences';
  organization: number;
  /** Only rows that the text index finds. */
  match?: { index: 'contact_terms' | 'audience_terms'; expression: FtsQuery };
  /** Only members of this audience, by its key. */
  audience?: number;
}

export interface OrderedRow {
  position: RowId;
  createdMs: number;
  id: string;
}

/** Where the page before ended. */
type End = Pick<SortKey, 'createdAt' | 'id'>;

export function countRows(connection: Connection, source: RowSource): number {
  const { from, where, values } = parts(source);
  const row = connection.row<[bigint]>(`SELECT count(*) FROM ${from} WHERE ${where}`, ...values);
  return Number(row?.[0] ?? 0);
}

/** The first rows after a moment, by time of creation and id, descending. */
export function newestRows(
  connection: Connection,
  source: RowSource,
  limit: number,
  after?: End,
): OrderedRow[] {
  const found: OrderedRow[] = [];
  let bound = LAST_ROW_ID;
  if (after) {
    const start = bucketStartAt(after.createdAt);
    found.push(...rowsInBucket(connection, source, start, limit, after));
    bound = start - 1n;
  }
  while (found.length < limit && bound >= 0n) {
    const missing = limit - found.length;
    const rows = rowsBelow(connection, source, bound, missing + 1);
    const last = rows[missing];
    if (last === undefined) {
      found.push(...rows.sort(newestFirst));
      break;
    }
    const step = bucketStart(last.position);
    found.push(...rows.filter(({ position }) => position > bucketEnd(step)).sort(newestFirst));
    if (found.length < limit) found.push(...rowsInBucket(connection, source, step, limit - found.length));
    bound = step - 1n;
  }
  return found;
}

function newestFirst(left: OrderedRow, right: OrderedRow): number {
  return right.createdMs - left.createdMs || (left.id < right.id ? 1 : -1);
}

function rowsBelow(connection: Connection, source: RowSource, bound: RowId, limit: number): OrderedRow[] {
  const { from, where, values, position } = parts(source);
  return toRows(
    connection.rows(
      `SELECT r.position, r.created_ms, r.id FROM ${from}
         CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = ${position}
        WHERE ${where} AND ${position} <= ? ORDER BY ${position} DESC LIMIT ?`,
      source.organization,
      ...values,
      bound,
      limit,
    ),
  );
}

/** Rows of the one step that begins at `start`: few, unless many were imported with the same time. */
function rowsInBucket(
  connection: Connection,
  source: RowSource,
  start: RowId,
  limit: number,
  after?: End,
): OrderedRow[] {
  const { from, where, values, position } = parts(source);
  return toRows(
    connection.rows(
      `SELECT r.position, r.created_ms, r.id FROM ${from}
         CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = ${position}
        WHERE ${where} AND ${position} BETWEEN ? AND ? ${after ? 'AND (r.created_ms, r.id) < (?, ?)' : ''}
        ORDER BY r.created_ms DESC, r.id DESC LIMIT ?`,
      source.organization,
      ...values,
      start,
      bucketEnd(start),
      ...(after ? [after.createdAt, after.id] : []),
      limit,
    ),
  );
}

/** The narrowest table first: the text index, else the members, else the rows themselves. */
function parts({ rows, organization, match, audience }: RowSource): {
  from: string;
  where: string;
  values: SqlValue[];
  position: string;
} {
  if (match && audience !== undefined) {
    return {
      // Values are bound in the order of their question marks, and only the condition comes after what callers add.
      from: `${match.index} t CROSS JOIN memberships m ON m.position = t.rowid`,
      where: `${match.index} MATCH ? AND m.audience = ?`,
      values: [match.expression, audience],
      position: 't.rowid',
    };
  }
  if (match) {
    return {
      from: `${match.index} t`,
      where: `${match.index} MATCH ?`,
      values: [match.expression],
      position: 't.rowid',
    };
  }
  if (audience !== undefined) {
    return { from: 'memberships m', where: 'm.audience = ?', values: [audience], position: 'm.position' };
  }
  return {
    from: `${rows} p`,
    where: 'p.organization = ? AND p.position IS NOT NULL',
    values: [organization],
    position: 'p.position',
  };
}

function toRows(rows: [bigint, bigint, string][]): OrderedRow[] {
  return rows.map(([position, created, id]) => ({ position, createdMs: Number(created), id }));
}
