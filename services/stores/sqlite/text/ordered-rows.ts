import type { ContactSort, FacetField } from '../../../contacts/fields.js';
import type { Sort, SortKey } from '../../../search/query.js';
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
  /** Only these rows, as a JSON array. */
  positions?: string;
  /** Only contacts of this country, in normal form. */
  country?: string;
  /** Only contacts that changed after this time, in milliseconds. */
  updatedAfter?: number;
}

export interface RankedRow {
  key: bigint;
  rank: number;
  createdMs: number;
  id: string;
  /** See `SortKey.sorted`. */
  sorted?: string | number | null;
}

/** The last row of the previous page. */
type PageEnd = Pick<SortKey, 'createdAt' | 'id'>;

export function countRows(connection: Connection, source: RowSource): number {
  const { from, where, values } = select(source);
  const row = connection.row<[bigint]>(`SELECT count(*) FROM ${from} WHERE ${where}`, ...values);
  return Number(row?.[0] ?? 0);
}

export function hasRows(connection: Connection, source: RowSource): boolean {
  const { from, where, values } = select(source);
  return connection.row(`SELECT 1 FROM ${from} WHERE ${where} LIMIT 1`, ...values) !== undefined;
}

/** As `countRows`, but stops at a limit. */
export function countUpTo(connection: Connection, source: RowSource, limit: number): number {
  const { from, where, values } = select(source);
  const sql = `SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${where} LIMIT ?)`;
  return Number(connection.row<[bigint]>(sql, ...values, limit)?.[0] ?? 0);
}

/** A row, in how many of some sources it is, and a bit mask of these, the first source the lowest bit. */
export interface MarkedRow {
  position: RowId;
  count: number;
  mask: number;
}

/** Rows in `fewest` to `most` of the sources, those in the most first. Reads all of them. */
export function rowsInSources(
  connection: Connection,
  sources: readonly RowSource[],
  fewest: number,
  most: number,
  limit: number,
): MarkedRow[] {
  const { grouped, values } = groupedRows(sources);
  const rows = connection.rows<[RowId, bigint, bigint]>(
    `SELECT position, words, mask FROM (${grouped}) WHERE words BETWEEN ? AND ? ORDER BY words DESC LIMIT ?`,
    ...values,
    fewest,
    most,
    limit,
  );
  return rows.map(([position, count, mask]) => ({ position, count: Number(count), mask: Number(mask) }));
}

/** The bit masks of rows in exactly `count` of the sources. Reads all of them. */
export function combinations(connection: Connection, sources: readonly RowSource[], count: number): number[] {
  const { grouped, values } = groupedRows(sources);
  const rows = connection.rows<[bigint]>(
    `SELECT DISTINCT mask FROM (${grouped}) WHERE words = ?`,
    ...values,
    count,
  );
  return rows.map(([mask]) => Number(mask));
}

function groupedRows(sources: readonly RowSource[]): { grouped: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const marked = sources.map((source, index) => {
    const { from, where, values: bound, rowId } = select(source);
    values.push(...bound);
    return `SELECT ${rowId} AS position, ${2 ** index} AS bit FROM ${from} WHERE ${where}`;
  });
  const union = marked.join(' UNION ALL ');
  return {
    grouped: `SELECT position, count(*) AS words, sum(bit) AS mask FROM (${union}) GROUP BY position`,
    values,
  };
}

/** Contacts whose fields are read at once: handing them over one by one takes longer than reading them. */
const ROWS_PER_PART = 20_000;

/** Fields of facets of all contacts, each as a list per part of the contacts; null where a contact has no such text. */
export function* facetFields(
  connection: Connection,
  source: RowSource,
  fields: readonly FacetField[],
): Generator<(string | null)[][], void> {
  const { from, where, values, rowId } = select(source);
  // As the index has them.
  const columns = fields.map((field) => `json_extract(p.body, '$.${field}') AS ${field}`);
  const lists = fields.map((field) => `json_group_array(${field})`);
  const sql = `SELECT max(position), ${lists.join(', ')} FROM (SELECT r.position, ${columns.join(', ')}
    FROM (SELECT ${rowId} AS position FROM ${from} WHERE ${where} AND ${rowId} > ? ORDER BY ${rowId} LIMIT ?) r
    CROSS JOIN contacts p INDEXED BY contacts_facets ON p.organization = ? AND p.position = r.position)`;
  let last: RowId = -1n;
  for (;;) {
    const read = connection.row<[RowId | null, ...string[]]>(
      sql,
      ...values,
      last,
      ROWS_PER_PART,
      source.organization,
    );
    if (!read || read[0] === null) return;
    const [end, ...texts] = read;
    last = end;
    yield texts.map((text) => JSON.parse(text) as (string | null)[]);
  }
}

/** Rows by creation time and id, descending, from the end of the previous page on. `rank` is that of all of them. */
export function newestRows(
  connection: Connection,
  source: RowSource,
  limit: number,
  after?: PageEnd,
  rank = 0,
): RankedRow[] {
  return newestColumns(connection, source, limit, after).map(([key, created, id]) => ({
    key,
    rank,
    createdMs: Number(created),
    id,
  }));
}

type RowColumns = [key: bigint, createdMs: bigint, id: string];

function newestColumns(
  connection: Connection,
  source: RowSource,
  limit: number,
  after?: PageEnd,
): RowColumns[] {
  if (source.rows === 'contacts' && !source.match && source.audience === undefined) {
    return newestContacts(connection, source, limit, after);
  }
  if (!after) return rowsBelow(connection, source, LAST_ROW_ID, limit);
  const start = bucketStartAt(after.createdAt);
  const found = rowsBetween(connection, source, start, bucketEnd(start), limit, after);
  if (found.length < limit) found.push(...rowsBelow(connection, source, start - 1n, limit - found.length));
  return found;
}

/** From the index in this order: in a bucket that a large import shares, sorting would take longer than the rest. */
function newestContacts(
  connection: Connection,
  { organization, country, updatedAfter }: RowSource,
  limit: number,
  after?: PageEnd,
): RowColumns[] {
  return connection.rows(
    `SELECT key, created_ms, id FROM contacts WHERE organization = ?
         ${country === undefined ? '' : 'AND country = ?'}
         ${updatedAfter === undefined ? '' : 'AND updated_ms > ?'}
         ${after ? 'AND (created_ms, id) < (?, ?)' : ''}
        ORDER BY created_ms DESC, id DESC LIMIT ?`,
    organization,
    ...(country === undefined ? [] : [country]),
    ...(updatedAfter === undefined ? [] : [updatedAfter]),
    ...(after ? [after.createdAt, after.id] : []),
    limit,
  );
}

/** Only the bucket of the last row may have more rows than there is room for: a second search reads it as a whole. */
function rowsBelow(connection: Connection, source: RowSource, bound: RowId, limit: number): RowColumns[] {
  const newest = newestRowIds(connection, source, limit + 1, bound);
  const [last, next] = newest.slice(limit - 1);
  if (last !== undefined && next !== undefined) {
    if (bucketStart(last) === bucketStart(next)) {
      return rowsBetween(connection, source, bucketStart(last), bound, limit);
    }
    newest.pop();
  }
  return connection.rows(
    `SELECT r.key, r.created_ms, r.id FROM json_each(?) p
       CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = p.value ORDER BY r.created_ms DESC, r.id DESC`,
    `[${newest.join(',')}]`,
    source.organization,
  );
}

/** The highest row ids, descending. */
export function newestRowIds(
  connection: Connection,
  source: RowSource,
  limit: number,
  bound = LAST_ROW_ID,
): RowId[] {
  const { from, where, values, rowId } = select(source);
  const rows = connection.rows<[RowId]>(
    `SELECT ${rowId} FROM ${from} WHERE ${where} AND ${rowId} <= ? ORDER BY ${rowId} DESC LIMIT ?`,
    ...values,
    bound,
    limit,
  );
  return rows.map(([found]) => found);
}

/** The newest rows of whole buckets; few are sorted, unless many were imported with the same time. */
function rowsBetween(
  connection: Connection,
  source: RowSource,
  first: RowId,
  last: RowId,
  limit: number,
  after?: PageEnd,
): RowColumns[] {
  const { from, where, values, rowId } = select(source);
  return connection.rows(
    `SELECT r.key, r.created_ms, r.id FROM ${from}
         CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = ${rowId}
        WHERE ${where} AND ${rowId} BETWEEN ? AND ? ${after ? 'AND (r.created_ms, r.id) < (?, ?)' : ''}
        ORDER BY r.created_ms DESC, r.id DESC LIMIT ?`,
    source.organization,
    ...values,
    first,
    last,
    ...(after ? [after.createdAt, after.id] : []),
    limit,
  );
}

const SORT_COLUMNS: Record<ContactSort, { column: string; index: string; hasNulls?: true }> = {
  created_at: { column: 'created_ms', index: 'contacts_by_time' },
  updated_at: { column: 'updated_ms', index: 'contacts_by_update' },
  last_name: { column: 'last_name', index: 'contacts_by_last_name', hasNulls: true },
  company_name: { column: 'company_name', index: 'contacts_by_company_name', hasNulls: true },
};

/**
 * Contacts in the order of a sort, from the end of the previous page on: from its index, which costs what the page costs. What is
 * selected by more than the organization is sorted as a whole.
 */
export function sortedRows(
  connection: Connection,
  source: Omit<RowSource, 'country'>,
  { by, direction }: Sort<ContactSort>,
  limit: number,
  after?: SortKey,
): RankedRow[] {
  const { column, index, hasNulls } = SORT_COLUMNS[by];
  const { from, where, values, row } = selectSorted(source, index);
  const sorted = `${row}.${column}`;
  const id = `${row}.id`;
  const [order, beyond] = direction === 'asc' ? ['ASC', '>'] : ['DESC', '<'];
  const read = (condition: string, bound: SqlValue[], room: number): RankedRow[] =>
    connection
      .rows<[bigint, bigint, string, string | bigint | null]>(
        `SELECT ${row}.key, ${row}.created_ms, ${id}, ${sorted} FROM ${from} WHERE ${where} AND ${condition}
          ORDER BY ${sorted} ${order}, ${id} ${order} LIMIT ?`,
        ...values,
        ...bound,
        room,
      )
      .map(([key, created, rowId, value]) => ({
        key,
        rank: 0,
        createdMs: Number(created),
        id: rowId,
        sorted: typeof value === 'bigint' ? Number(value) : value,
      }));
  const isPastValues = after?.sorted === null;
  const rows = isPastValues
    ? []
    : after
      ? read(`(${sorted}, ${id}) ${beyond} (?, ?)`, [after.sorted ?? null, after.id], limit)
      : read(`${sorted} IS NOT NULL`, [], limit);
  if (!hasNulls || rows.length === limit) return rows;
  const behind = isPastValues ? ` AND ${id} ${beyond} ?` : '';
  return [
    ...rows,
    ...read(`${sorted} IS NULL${behind}`, isPastValues ? [after.id] : [], limit - rows.length),
  ];
}

function selectSorted(source: Omit<RowSource, 'country'>, index: string): Selection & { row: string } {
  const { organization, match, audience, updatedAfter } = source;
  if (match || audience !== undefined) return withRow(select(source), source);
  // The index by position has every column, so that a walk over all contacts reads no row.
  const isWhole = updatedAfter === undefined;
  return {
    from: `contacts p INDEXED BY ${isWhole ? index : 'contacts_by_position'}`,
    where: isWhole ? 'p.organization = ?' : 'p.organization = ? AND p.updated_ms > ?',
    values: isWhole ? [organization] : [organization, updatedAfter],
    rowId: 'p.position',
    row: 'p',
  };
}

export interface GradedRow extends Omit<RankedRow, 'rank'> {
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
     SELECT r.key, r.created_ms, r.id, s.points FROM summed s
       CROSS JOIN ${source.rows} r ON r.organization = ? AND r.position = s.position
      ${after ? 'WHERE (s.points, r.created_ms, r.id) < (?, ?, ?)' : ''}
      ORDER BY s.points DESC, r.created_ms DESC, r.id DESC LIMIT ?`,
    ...values,
    source.organization,
    ...(after ? [after.points, after.createdAt, after.id] : []),
    limit,
  );
  return rows.map(([key, created, id, points]) => ({
    key,
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
    // Left to choose, SQLite walks all that changed after the time, once for each row.
    from: `${from} CROSS JOIN ${rows} p INDEXED BY ${rows}_by_position ON p.position = ${rowId}`,
    where: `${where} AND p.organization = ?`,
    values: [...values, organization],
    rowId,
    row: 'p',
  };
}

/** Joins from the narrowest table: the text index, else the members, else the rows themselves. */
function selectRows({ rows, organization, match, audience, positions, country }: RowSource): Selection {
  if (positions !== undefined) {
    return {
      from: `${rows} p`,
      where: 'p.organization = ? AND p.position IN (SELECT value FROM json_each(?))',
      values: [organization, positions],
      rowId: 'p.position',
      row: 'p',
    };
  }
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
  if (country !== undefined) {
    return {
      from: `${rows} p`,
      where: 'p.organization = ? AND p.country = ?',
      values: [organization, country],
      rowId: 'p.position',
      row: 'p',
    };
  }
  return {
    from: `${rows} p`,
    where: 'p.organization = ? AND p.position IS NOT NULL',
    values: [organization],
    rowId: 'p.position',
    row: 'p',
  };
}
