import { REJECTION_LIMITS, type Rejection, type RejectionSearch } from '../../rejections/rejection-store.js';
import type { Json } from '../../shared/json.js';
import { EMPTY_SQL, joinSql, sql } from '../../shared/sql.js';
import { rowsToFetch } from '../common/page-builder.js';
import type { Connection } from './connection.js';
import { buildPage, type JsonPage } from './pages.js';

/** `now` in milliseconds since 1970. */
export function keepRejections(
  connection: Connection,
  organizationId: string,
  rejections: readonly Rejection[],
  now: number,
): void {
  for (const rejection of rejections) {
    connection.run(
      sql`INSERT OR REPLACE INTO rejections (id, organization_id, rejected_ms, record) VALUES (?, ?, ?, ?)`,
      rejection.id,
      organizationId,
      Date.parse(rejection.rejected_at),
      JSON.stringify(rejection),
    );
  }
  connection.run(
    sql`DELETE FROM rejections WHERE organization_id = ?1 AND (rejected_ms <= ?2 OR id IN (
       SELECT id FROM rejections WHERE organization_id = ?1 ORDER BY rejected_ms DESC, id DESC LIMIT -1 OFFSET ?3))`,
    organizationId,
    now - REJECTION_LIMITS.ageMs,
    REJECTION_LIMITS.records,
  );
}

/** Newest first. Reads the rows of the page, and counts in an index. */
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

/** Deletes the rejections of records that had the identifier; returns how many. */
export const eraseRejections = (connection: Connection, organizationId: string, recordId: string): number =>
  connection.run(
    sql`DELETE FROM rejections WHERE organization_id = ? AND record ->> '$.record_id' = ?`,
    organizationId,
    recordId,
  );
