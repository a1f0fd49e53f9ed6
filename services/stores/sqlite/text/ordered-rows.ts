import type { ContactSort, FacetField } from '../../../contacts/fields.js';
import type { Sort, SortKey } from '../../../search/query.js';
import { EMPTY_SQL, identifier, joinSql, type Sql, sql, textLiteral } from '../../../shared/sql.js';
import type { Connection, SqlValue } from '../connection.js';
import { bucketEnd, bucketStart, bucketStartAt, LAST_ROW_ID, type RowId } from '../row-ids.js';
import type { FtsQuery } from './fts-query.js';
import { INDEX_NAMES, type TextIndex } from './text-index.js';

const TABLES = { contacts: identifier('contacts'), audiences: identifier('audiences') };
const BY_POSITION = {
  contacts: identifier('contacts_by_position'),
  audiences: identifier('audiences_by_position'),
};

/** A selection of rows of one organization. */
export interface RowSource {
  /** Table with organization, position, created_ms and id. */
  rows: 'contacts' | 'audiences';
  organization: number;
  /** Selects rows that match the query. */
  match?: { index: TextIndex; query: FtsQuery };
  /** Selects members of this audience, given by its key. */
  audience?: number;
  /** Selects these positions, given as a JSON array. */
  positions?: string;
  /** Selects contacts of this country, in normal form. */
  country?: string;
  /** Selects contacts that changed after this time, in milliseconds. */
  updatedAfter?: number;
  /** Selects contacts that were created at this time or later, in milliseconds. */
  createdFrom?: number;
  /** Selects contacts that were created before this time, in milliseconds. */
  createdBefore?: number;
  /** Selects rows of at least one of these sources. */
  anyOf?: RowSource[];
  /** Selects rows of none of these sources. */
  noneOf?: RowSource[];
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
  const row = connection.row<[bigint]>(sql`SELECT count(*) FROM ${from} WHERE ${where}`, ...values);
  return Number(row?.[0] ?? 0);
}

export function hasRows(connection: Connection, source: RowSource): boolean {
  const { from, where, values } = select(source);
  return connection.row(sql`SELECT 1 FROM ${from} WHERE ${where} LIMIT 1`, ...values) !== undefined;
}

/**
 * The given positions that the source has. A text query is evaluated once, because FTS5 merges all of its words for each evaluation. Other
 * sources are looked up by position, so that the cost does not grow with the source.
 */
export function rowsAmong(connection: Connection, source: RowSource, positions: readonly RowId[]): RowId[] {
  const { from, where, values, rowId } = select(source);
  const list = `[${positions.join(',')}]`;
  const found = source.match
    ? connection.rows<[RowId]>(
        sql`WITH asked AS MATERIALIZED (SELECT value FROM json_each(?))
          SELECT ${rowId} FROM ${from} WHERE ${where} AND ${rowId} BETWEEN (SELECT min(value) FROM asked)
          AND (SELECT max(value) FROM asked) AND +${rowId} IN (SELECT value FROM asked)`,
        list,
        ...values,
      )
    : connection.rows<[RowId]>(
        sql`SELECT asked.value FROM json_each(?) asked
          WHERE EXISTS (SELECT 1 FROM ${from} WHERE ${where} AND ${rowId} = asked.value)`,
        list,
        ...values,
      );
  return found.map(([position]) => position);
}

/** Counts rows like `countRows`, but stops at a limit. */
export function countUpTo(connection: Connection, source: RowSource, limit: number): number {
  const { from, where, values } = select(source);
  const counted = sql`SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${where} LIMIT ?)`;
  return connection.number(counted, ...values, limit) ?? 0;
}

/** A row, the number of sources that contain the row, and a bit mask of these sources; the lowest bit is the first source. */
export interface MarkedRow {
  position: RowId;
  weight: number;
  mask: number;
}

/** A source, its weight, and whether a row of this source may be in fewer than `fewest` sources. */
export interface WeighedSource {
  source: RowSource;
  weight: number;
  isRare: boolean;
}

/**
 * Finds rows that are in at least `fewest` sources or in a rare source, and whose weights add up to at least `least`, heaviest first. Reads
 * all such rows.
 */
export function heaviestRows(
  connection: Connection,
  sources: readonly WeighedSource[],
  { fewest, least, most }: { fewest: number; least: number; most: number },
  limit: number,
): MarkedRow[] {
  const { grouped, values } = groupedRows(sources);
  const rows = connection.rows<[RowId, bigint, bigint]>(
    sql`SELECT position, weight, mask FROM (${grouped})
      WHERE (words >= ? OR rare > 0) AND weight BETWEEN ? AND ? ORDER BY weight DESC LIMIT ?`,
    ...values,
    fewest,
    least,
    most,
    limit,
  );
  return rows.map(([position, weight, mask]) => ({ position, weight: Number(weight), mask: Number(mask) }));
}

/** The bit masks of rows, as in `heaviestRows`, whose weights add up to exactly one given weight. Reads all such rows. */
export function combinations(
  connection: Connection,
  sources: readonly WeighedSource[],
  fewest: number,
  weight: number,
): number[] {
  const { grouped, values } = groupedRows(sources);
  const rows = connection.rows<[bigint]>(
    sql`SELECT DISTINCT mask FROM (${grouped}) WHERE (words >= ? OR rare > 0) AND weight = ?`,
    ...values,
    fewest,
    weight,
  );
  return rows.map(([mask]) => Number(mask));
}

function groupedRows(sources: readonly WeighedSource[]): { grouped: Sql; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const marked = sources.map(({ source, weight, isRare }, index) => {
    const { from, where, values: bound, rowId } = select(source);
    values.push(...bound);
    return sql`SELECT ${rowId} AS position, ${2 ** index} AS bit, ${weight} AS weight, ${isRare ? 1 : 0} AS rare
      FROM ${from} WHERE ${where}`;
  });
  const union = joinSql(marked, ' UNION ALL ');
  return {
    grouped: sql`SELECT position, count(*) AS words, sum(bit) AS mask, sum(weight) AS weight, sum(rare) AS rare
      FROM (${union}) GROUP BY position`,
    values,
  };
}

/** Number of contacts whose fields are read at once: handing contacts over one by one takes longer than reading them. */
const ROWS_PER_PART = 20_000;
/** The same for united sources, which are searched again for each part. */
const UNITED_ROWS_PER_PART = 200_000;

/** Facet fields of all contacts. A field is a list per part of the contacts, with null for a contact without the text. */
export function* facetFields(
  connection: Connection,
  source: RowSource,
  fields: readonly FacetField[],
): Generator<(string | null)[][], void> {
  const { from, where, values, rowId } = select(source);
  // The same expressions as in the index, so that SQLite uses it.
  const columns = fields.map(
    (field) => sql`json_extract(p.body, ${textLiteral(`$.${field}`)}) AS ${identifier(field)}`,
  );
  const lists = fields.map((field) => sql`json_group_array(${identifier(field)})`);
  const part = sql`SELECT max(position), ${joinSql(lists, ', ')}
    FROM (SELECT r.position, ${joinSql(columns, ', ')}
    FROM (SELECT ${rowId} AS position FROM ${from} WHERE ${where} AND ${rowId} > ? ORDER BY ${rowId} LIMIT ?) r
    CROSS JOIN contacts p INDEXED BY contacts_facets ON p.organization = ? AND p.position = r.position)`;
  let last: RowId = -1n;
  for (;;) {
    const read = connection.row<[RowId | null, ...string[]]>(
      part,
      ...values,
      last,
      source.anyOf || source.noneOf ? UNITED_ROWS_PER_PART : ROWS_PER_PART,
      source.organization,
    );
    if (!read || read[0] === null) return;
    const [end, ...texts] = read;
    last = end;
    yield texts.map((text) => JSON.parse(text) as (string | null)[]);
  }
}

/** Rows by creation time and id, descending, after the end of the previous page. Each of these rows gets the rank `rank`. */
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
  if (source.rows === 'contacts' && !source.match && source.audience === undefined && !source.anyOf) {
    return newestContacts(connection, source, limit, after);
  }
  if (!after) return rowsBelow(connection, source, LAST_ROW_ID, limit);
  const start = bucketStartAt(after.createdAt);
  const found = rowsBetween(connection, source, start, bucketEnd(start), limit, after);
  if (found.length < limit) found.push(...rowsBelow(connection, source, start - 1n, limit - found.length));
  return found;
}

/** Reads the index in the order of the page: in a bucket that a large import shares, sorting would take longer than everything else. */
function newestContacts(
  connection: Connection,
  source: RowSource,
  limit: number,
  after?: PageEnd,
): RowColumns[] {
  const { organization, country } = source;
  const conditions = conditionsOf(source, sql`p`, sql`p.position`);
  return connection.rows(
    sql`SELECT p.key, p.created_ms, p.id FROM contacts p WHERE p.organization = ?
         ${country === undefined ? EMPTY_SQL : sql`AND p.country = ?`} ${conditions.where}
         ${after ? sql`AND (p.created_ms, p.id) < (?, ?)` : EMPTY_SQL}
        ORDER BY p.created_ms DESC, p.id DESC LIMIT ?`,
    organization,
    ...(country === undefined ? [] : [country]),
    ...conditions.values,
    ...(after ? [after.createdAt, after.id] : []),
    limit,
  );
}

/** Only the bucket of the last row may have more rows than the limit allows. A second search reads that bucket completely. */
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
    sql`SELECT r.key, r.created_ms, r.id FROM json_each(?) p
       CROSS JOIN ${TABLES[source.rows]} r ON r.organization = ? AND r.position = p.value ORDER BY r.created_ms DESC, r.id DESC`,
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
    sql`SELECT ${rowId} FROM ${from} WHERE ${where} AND ${rowId} <= ? ORDER BY ${rowId} DESC LIMIT ?`,
    ...values,
    bound,
    limit,
  );
  return rows.map(([found]) => found);
}

/** The newest rows of whole buckets. Only few rows need sorting, unless many rows were imported with the same time. */
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
    sql`SELECT r.key, r.created_ms, r.id FROM ${from}
         CROSS JOIN ${TABLES[source.rows]} r ON r.organization = ? AND r.position = ${rowId}
        WHERE ${where} AND ${rowId} BETWEEN ? AND ? ${after ? sql`AND (r.created_ms, r.id) < (?, ?)` : EMPTY_SQL}
        ORDER BY r.created_ms DESC, r.id DESC LIMIT ?`,
    source.organization,
    ...values,
    first,
    last,
    ...(after ? [after.createdAt, after.id] : []),
    limit,
  );
}

const SORT_COLUMNS: Record<ContactSort, { column: Sql; index: Sql; hasNulls?: true }> = {
  created_at: { column: identifier('created_ms'), index: identifier('contacts_by_time') },
  updated_at: { column: identifier('updated_ms'), index: identifier('contacts_by_update') },
  last_name: {
    column: identifier('last_name'),
    index: identifier('contacts_by_last_name'),
    hasNulls: true,
  },
  company_name: {
    column: identifier('company_name'),
    index: identifier('contacts_by_company_name'),
    hasNulls: true,
  },
};

/**
 * Contacts in the order of a sort, after the end of the previous page. Reads the index of the sort, so the cost depends only on the page. A
 * selection that is narrower than the organization is sorted as a whole.
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
  const sorted = sql`${row}.${column}`;
  const id = sql`${row}.id`;
  const [order, beyond] =
    direction === 'asc' ? ([sql`ASC`, sql`>`] as const) : ([sql`DESC`, sql`<`] as const);
  const read = (condition: Sql, bound: SqlValue[], room: number): RankedRow[] =>
    connection
      .rows<[bigint, bigint, string, string | bigint | null]>(
        sql`SELECT ${row}.key, ${row}.created_ms, ${id}, ${sorted} FROM ${from} WHERE ${where} AND ${condition}
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
      ? read(sql`(${sorted}, ${id}) ${beyond} (?, ?)`, [after.sorted ?? null, after.id], limit)
      : read(sql`${sorted} IS NOT NULL`, [], limit);
  if (!hasNulls || rows.length === limit) return rows;
  const behind = isPastValues ? sql` AND ${id} ${beyond} ?` : EMPTY_SQL;
  return [
    ...rows,
    ...read(sql`${sorted} IS NULL${behind}`, isPastValues ? [after.id] : [], limit - rows.length),
  ];
}

function selectSorted(source: Omit<RowSource, 'country'>, index: Sql): Selection & { row: Sql } {
  const { organization, match, audience } = source;
  if (match || audience !== undefined) return withRow(select(source), source);
  const conditions = conditionsOf(source, sql`p`, sql`p.position`);
  // The index by position has every column, so walking over all contacts reads no rows.
  return {
    from: sql`contacts p INDEXED BY ${conditions.values.length === 0 ? index : sql`contacts_by_position`}`,
    where: sql`p.organization = ? ${conditions.where}`,
    values: [organization, ...conditions.values],
    rowId: sql`p.position`,
    row: sql`p`,
  };
}

export interface GradedRow extends Omit<RankedRow, 'rank'> {
  points: number;
}

/**
 * Rows ordered by the points of the conditions that they meet, then as in `newestRows`. Points of typos and names add up; a row without
 * names gets the points of its best group instead. Reads every row, unlike `newestRows`.
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
    const columns = ['typos', 'names', 'group'].map((name) => sql`${name === kind ? points : 0}`);
    return sql`SELECT ${rowId}, ${joinSql(columns, ', ')} FROM ${from} WHERE ${where}`;
  });
  const rows = connection.rows<[bigint, bigint, string, bigint]>(
    sql`WITH graded (position, typos, names, groups) AS (${joinSql(graded, ' UNION ALL ')}),
       summed AS (
         SELECT position, sum(typos) + max(sum(names), max(groups)) AS points FROM graded GROUP BY position
       )
     SELECT r.key, r.created_ms, r.id, s.points FROM summed s
       CROSS JOIN ${TABLES[source.rows]} r ON r.organization = ? AND r.position = s.position
      ${after ? sql`WHERE (s.points, r.created_ms, r.id) < (?, ?, ?)` : EMPTY_SQL}
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
  from: Sql;
  where: Sql;
  values: SqlValue[];
  /** The column that holds the row id. */
  rowId: Sql;
  /** Alias of the table of rows, if it is joined. */
  row?: Sql;
}

function select(source: RowSource): Selection {
  const selection = selectRows(source);
  const { updatedAfter, createdFrom, createdBefore } = source;
  const hasTimes = [updatedAfter, createdFrom, createdBefore].some((time) => time !== undefined);
  const { from, where, values, rowId, row } = hasTimes ? withRow(selection, source) : selection;
  const conditions = conditionsOf(source, row ?? EMPTY_SQL, rowId);
  return {
    from,
    where: sql`${where} ${conditions.where}`,
    values: [...values, ...conditions.values],
    rowId,
    row,
  };
}

/** The conditions on times and united sources. `row` is the alias of the table of rows; it may be empty if the source has no times. */
function conditionsOf(source: RowSource, row: Sql, rowId: Sql): { where: Sql; values: SqlValue[] } {
  const conditions: Sql[] = [];
  const values: SqlValue[] = [];
  const add = (condition: Sql, ...bound: SqlValue[]) => {
    conditions.push(sql` AND ${condition}`);
    values.push(...bound);
  };
  const { updatedAfter, createdFrom, createdBefore, anyOf, noneOf } = source;
  if (updatedAfter !== undefined) add(sql`${row}.updated_ms > ?`, updatedAfter);
  if (createdFrom !== undefined) add(sql`${row}.created_ms >= ?`, createdFrom);
  if (createdBefore !== undefined) add(sql`${row}.created_ms < ?`, createdBefore);
  if (source.match || source.audience !== undefined) {
    // Row ids follow creation times, so the text index and the members outside of the range are not read.
    if (createdFrom !== undefined) add(sql`${rowId} >= ?`, bucketStartAt(createdFrom));
    if (createdBefore !== undefined) add(sql`${rowId} <= ?`, bucketEnd(bucketStartAt(createdBefore)));
  }
  const union = (sources: readonly RowSource[]) => {
    const selected = sources.map(select);
    const selects = selected.map(
      ({ from, where, rowId }) => sql`SELECT ${rowId} FROM ${from} WHERE ${where}`,
    );
    return [joinSql(selects, ' UNION ALL '), selected.flatMap((each) => each.values)] as const;
  };
  // With the plus sign, SQLite does not search the text index once for each row of the united sources.
  const position = source.match ? sql`+${rowId}` : rowId;
  if (anyOf) {
    const [selects, bound] = union(anyOf);
    add(anyOf.length === 0 ? sql`0` : sql`${position} IN (${selects})`, ...bound);
  }
  if (noneOf && noneOf.length > 0) {
    const [selects, bound] = union(noneOf);
    add(sql`${position} NOT IN (${selects})`, ...bound);
  }
  return { where: joinSql(conditions, ''), values };
}

function withRow(selection: Selection, { rows, organization }: RowSource): Selection & { row: Sql } {
  const { from, where, values, rowId, row } = selection;
  if (row !== undefined) return { ...selection, row };
  return {
    // Without CROSS JOIN and INDEXED BY, SQLite would scan, for each row, all rows that changed after the time.
    from: sql`${from} CROSS JOIN ${TABLES[rows]} p INDEXED BY ${BY_POSITION[rows]} ON p.position = ${rowId}`,
    where: sql`${where} AND p.organization = ?`,
    values: [...values, organization],
    rowId,
    row: sql`p`,
  };
}

/** Joins from the narrowest table: the text index, otherwise the members, otherwise the rows themselves. */
function selectRows({ rows, organization, match, audience, positions, country }: RowSource): Selection {
  if (positions !== undefined) {
    return {
      from: sql`${TABLES[rows]} p`,
      where: sql`p.organization = ? AND p.position IN (SELECT value FROM json_each(?))`,
      values: [organization, positions],
      rowId: sql`p.position`,
      row: sql`p`,
    };
  }
  if (match && audience !== undefined) {
    const index = INDEX_NAMES[match.index];
    return {
      // Callers bind their parameters before `values`, so only `where` may have parameters.
      from: sql`${index} t CROSS JOIN memberships m ON m.position = t.rowid`,
      where: sql`${index} MATCH ? AND m.audience = ?`,
      values: [match.query.text, audience],
      rowId: sql`t.rowid`,
    };
  }
  if (match) {
    const index = INDEX_NAMES[match.index];
    return {
      from: sql`${index} t`,
      where: sql`${index} MATCH ?`,
      values: [match.query.text],
      rowId: sql`t.rowid`,
    };
  }
  if (audience !== undefined) {
    return {
      from: sql`memberships m`,
      where: sql`m.audience = ?`,
      values: [audience],
      rowId: sql`m.position`,
    };
  }
  if (country !== undefined) {
    return {
      from: sql`${TABLES[rows]} p`,
      where: sql`p.organization = ? AND p.country = ?`,
      values: [organization, country],
      rowId: sql`p.position`,
      row: sql`p`,
    };
  }
  return {
    from: sql`${TABLES[rows]} p`,
    where: sql`p.organization = ? AND p.position IS NOT NULL`,
    values: [organization],
    rowId: sql`p.position`,
    row: sql`p`,
  };
}
