import type { SortKey } from '../../../search/query.js';
import type { Connection, SqlValue } from '../connection.js';
import { bucketEnd, bucketStart, bucketStartAt, LAST_ROW_ID, type RowId } from '../row-ids.js';
import type { FtsQuery } from './fts-query.js';
import type { TextIndex } from './text-index.js';

/** The rows of one organization that a search selects. */
export interface RowSource {
  /** Table with organization, position, created_ms and id. */
  rows: 'contacts' | 'audiences';
  organization: number;
  /** Only rows that match the query. */
  match?: { index: TextIndex; query: FtsQuery };
  /** Only members of this audience, by its key. */
  audience?: number;
  /** Only contacts that changed after this time, in milliseconds. */
  updatedAfter?: number;
}

export interface OrderedRow {
  rowId: RowId;
  createdMs: number;
  id: string;
}

/** The last row of the previous page. */
type PageEnd = Pick<SortKey, 'createdAt' | 'id'>;

export function countRows(connection: Connection, source: RowSource): number {
  const { from, where, values } = select(source);
  const row = connection.row<[bigint]>(`SELECT count(*) FROM ${from} WHERE ${where}`, ...values);
  return Number(row?.[0] ?? 0);
}

/** Fields of the JSON in `body` of all rows, in no order; null where a row has no such text. */
export function bodyFields(
  connection: Connection,
  source: RowSource,
  fields: readonly string[],
): IterableIterator<(string | null)[]> {
  const { from, where, values, row } = withRow(select(source), source);
  const columns = fields.map((field) => `json_extract(${row}.body, '$.${field}')`);
  return connection.each(`SELECT ${columns.join(', ')} FROM ${from} WHERE ${where}`, ...values);
}

/** Rows by creation time and id, descending, from the end of the previous page on. */
export function newestRows(
  connection: Connection,
  source: RowSource,
  limit: number,
  after?: PageEnd,
): OrderedRow[] {
  if (source.rows === 'contacts' && !source.match && source.audience === undefined) {
    return newestContacts(connection, source, limit, after);
  }
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
    const start = bucketStart(last.rowId);
    found.push(...rows.filter(({ rowId }) => rowId > bucketEnd(start)).sort(newestFirst));
    if (found.length < limit) found.push(...rowsInBucket(connection, source, start, limit - found.length));
    bound = start - 1n;
  }
  return found;
}

/** From the index in this order: in a bucket that a large import shares, sorting would take longer than the rest. */
function newestContacts(
  connection: Connection,
  { organization, updatedAfter }: RowSource,
  limit: number,
  after?: PageEnd,
): OrderedRow[] {
  return toRows(
    connection.rows(
      `SELECT position, created_ms, id FROM contacts WHERE organization = ?
         ${updatedAfter === undefined ? '' : 'AND updated_ms > ?'}
         ${after ? 'AND (created_ms, id) < (?, ?)' : ''}
        ORDER BY created_ms DESC, id DESC LIMIT ?`,
      organization,
      ...(updatedAfter === undefined ? [] : [updatedAfter]),
      ...(after ? [after.createdAt, after.id] : []),
      limit,
    ),
  );
}

function newestFirst(left: OrderedRow, right: OrderedRow): number {
  return right.createdMs - left.createdMs || (left.id < right.id ? 1 : -1);
}

function rowsBelow(connection: Connection, source: RowSource, bound: RowId, limit: number): OrderedRow[] {
  const { from, where, values, rowId } = select(source);
  return toRows(
    connection.rows(
      `SELECT r.position, r.created_ms, r.id FROM ${from}
         CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = ${rowId}
        WHERE ${where} AND ${rowId} <= ? ORDER BY ${rowId} DESC LIMIT ?`,
      source.organization,
      ...values,
      bound,
      limit,
    ),
  );
}

/** Rows of one bucket: few, unless many were imported with the same time. */
function rowsInBucket(
  connection: Connection,
  source: RowSource,
  start: RowId,
  limit: number,
  after?: PageEnd,
): OrderedRow[] {
  const { from, where, values, rowId } = select(source);
  return toRows(
    connection.rows(
      `SELECT r.position, r.created_ms, r.id FROM ${from}
         CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = ${rowId}
        WHERE ${where} AND ${rowId} BETWEEN ? AND ? ${after ? 'AND (r.created_ms, r.id) < (?, ?)' : ''}
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

export interface GradedRow extends OrderedRow {
  points: number;
}

/**
 * Rows by the points that the conditions they meet give, then as `newestRows`: the sum over all typos and names, where a row without
 * names gets the best of its groups instead of theirs. Reads every row, unlike `newestRows`.
 */
export function gradedRows(
  connection: Connection,
  source: RowSource,
  grades: readonly { kind: 'typos' | 'names' | 'group'; points: number; source: RowSource }[],
  limit: number,
  after?: PageEnd & { points: number },
): GradedRow[] {
  const values: SqlValue[] = [];
  const graded = [{ kind: 'group', points: 0, source }, ...grades].map(({ kind, points, source: each }) => {
    const { from, where, values: bound, rowId } = select(each);
    values.push(...bound);
    const columns = ['typos', 'names', 'group'].map((name) => (name === kind ? points : 0)).join(', ');
    return `SELECT ${rowId}, ${columns} FROM ${from} WHERE ${where}`;
  });
  const rows = connection.rows<[bigint, bigint, string, bigint]>(
    `WITH graded (position, typos, names, groups) AS (${graded.join(' UNION ALL ')}),
       summed AS (
         SELECT position, sum(typos) + max(sum(names), max(groups)) AS points FROM graded GROUP BY position
       )
     SELECT r.position, r.created_ms, r.id, s.points FROM summed s
       CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = s.position
      ${after ? 'WHERE (s.points, r.created_ms, r.id) < (?, ?, ?)' : ''}
      ORDER BY s.points DESC, r.created_ms DESC, r.id DESC LIMIT ?`,
    ...values,
    source.organization,
    ...(after ? [after.points, after.createdAt, after.id] : []),
    limit,
  );
  return rows.map(([rowId, created, id, points]) => ({
    rowId,
    createdMs: Number(created),
    id,
    points: Number(points),
  }));
}

interface Selection {
  from: string;
  where: string;
  values: SqlValue[];
  /** The column. */
  rowId: string;
  /** Alias of the table of rows, where it is one of those joined. */
  row?: string;
}

function select(source: RowSource): Selection {
  const selection = selectRows(source);
  if (source.updatedAfter === undefined) return selection;
  const { from, where, values, rowId, row } = withRow(selection, source);
  return {
    from,
    where: `${where} AND ${row}.updated_ms > ?`,
    values: [...values, source.updatedAfter],
    rowId,
    row,
  };
}

function withRow(selection: Selection, { rows, organization }: RowSource): Selection & { row: string } {
  const { from, where, values, rowId, row } = selection;
  if (row !== undefined) return { ...selection, row };
  return {
    from: `${from} CROSS JOIN ${rows} p ON p.position = ${rowId}`,
    where: `${where} AND p.organization = ?`,
    values: [...values, organization],
    rowId,
    row: 'p',
  };
}

/** Joins from the narrowest table: the text index, else the members, else the rows themselves. */
function selectRows({ rows, organization, match, audience }: RowSource): Selection {
  if (match && audience !== undefined) {
    return {
      // Callers bind before `values`, so the parameters stand in `where` alone.
      from: `${match.index} t CROSS JOIN memberships m ON m.position = t.rowid`,
      where: `${match.index} MATCH ? AND m.audience = ?`,
      values: [match.query, audience],
      rowId: 't.rowid',
    };
  }
  if (match) {
    return {
      from: `${match.index} t`,
      where: `${match.index} MATCH ?`,
      values: [match.query],
      rowId: 't.rowid',
    };
  }
  if (audience !== undefined) {
    return { from: 'memberships m', where: 'm.audience = ?', values: [audience], rowId: 'm.position' };
  }
  return {
    from: `${rows} p`,
    where: 'p.organization = ? AND p.position IS NOT NULL',
    values: [organization],
    rowId: 'p.position',
    row: 'p',
  };
}

function toRows(rows: [bigint, bigint, string][]): OrderedRow[] {
  return rows.map(([rowId, created, id]) => ({ rowId, createdMs: Number(created), id }));
}
