import { REJECTION_LIMITS, type Rejection, type RejectionSearch } from '../../rejections/rejection-store.js';
import type { Json } from '../../shared/json.js';
import { EMPTY_SQL, joinSql, sql } from '../../shared/sql.js';
import { rowsToFetch } from '../common/page-builder.js';
import type { Connection } from './connection.js';
import { buildPage, type JsonPage } from './pages.js';
import { type SteppedWork, steppedFrom } from './writes/stepped-work.js';

/** Maximum rejections that one statement deletes. */
const DROPPED_PER_STATEMENT = 500;

/** `now` is in milliseconds since the epoch. */
export function keepRejections(
  connection: Connection,
  organizationId: string,
  rejections: readonly Rejection[],
  now: number,
): SteppedWork<null> {
  const statement = sql`INSERT OR REPLACE INTO rejections (id, organization_id, rejected_ms, record) VALUES (?, ?, ?, ?)`;
  return steppedFrom<KeptRejections, null>(
    { kept: 0, isDone: false },
    ({ kept }) => {
      const rejection = rejections[kept];
      if (!rejection) return { kept, isDone: dropRejections(connection, organizationId, now) === 0 };
      const { id, rejected_at } = rejection;
      connection.run(statement, id, organizationId, Date.parse(rejected_at), JSON.stringify(rejection));
      return { kept: kept + 1, isDone: false };
    },
    ({ isDone }) => (isDone ? null : undefined),
  );
}

interface KeptRejections {
  kept: number;
  /** Whether no rejection is left that is too old or beyond the limit of an organization. */
  isDone: boolean;
}

/** Deletes some rejections that are too old or beyond the limit. Returns the number of deleted rejections. */
const dropRejections = (connection: Connection, organizationId: string, now: number): number =>
  connection.run(
    sql`DELETE FROM rejections WHERE id IN (SELECT id FROM (
       SELECT id, rejected_ms FROM rejections WHERE organization_id = ?1
        ORDER BY rejected_ms DESC, id DESC LIMIT -1 OFFSET ?3)
       UNION SELECT id FROM rejections WHERE organization_id = ?1 AND rejected_ms <= ?2 LIMIT ?4)`,
    organizationId,
    now - REJECTION_LIMITS.ageMs,
    REJECTION_LIMITS.records,
    DROPPED_PER_STATEMENT,
  );

/** Lists rejections, newest first. Reads only the rows of the page, and counts in an index. */
export function listRejections(
  connection: Connection,
  { organizationId, stream, limit, after }: RejectionSearch,
): JsonPage<Rejection> {
  const filters = [
    ...(organizationId === undefined ? [] : [{ is: sql`organization_id = ?`, value: organizationId }]),
    ...(stream === undefined ? [] : [{ is: sql`record ->> 'stream' = ?`, value: stream }]),
  ];
  const where = joinSql([sql`TRUE`, ...filters.map(({ is }) => is)], ' AND ');
  const values = filters.map(({ value }) => value);
  return connection.readTransaction(() => {
    const rows = connection.each<[record: Json<Rejection>, rejectedMs: bigint, id: string]>(
      sql`SELECT record, rejected_ms, id FROM rejections
        WHERE ${where} ${after ? sql`AND (rejected_ms, id) < (?, ?)` : EMPTY_SQL}
        ORDER BY rejected_ms DESC, id DESC LIMIT ?`,
      ...values,
      ...(after ? [after.createdAt, after.id] : []),
      rowsToFetch(limit),
    );
    const total = connection.number(sql`SELECT count(*) FROM rejections WHERE ${where}`, ...values);
    return buildPage(rows, total ?? 0, {
      limit,
      toJson: ([record]) => record,
      sortKeyOf: ([, rejectedMs, id]) => ({ rank: 0, createdAt: Number(rejectedMs), id }),
    });
  });
}

export function deleteRejections(connection: Connection, ids: readonly string[]): void {
  for (const id of ids) connection.run(sql`DELETE FROM rejections WHERE id = ?`, id);
}

/** Deletes rejections of records that had the identifier. Returns the number of deleted rejections. */
export const eraseRejections = (connection: Connection, organizationId: string, recordId: string): number =>
  connection.run(
    sql`DELETE FROM rejections WHERE organization_id = ? AND record ->> '$.record_id' = ?`,
    organizationId,
    recordId,
  );
