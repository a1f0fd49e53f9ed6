import { REJECTION_LIMITS, type Rejection } from '../../rejections/rejection-store.js';
import { fromJson } from '../../shared/json.js';
import { sql } from '../../shared/sql.js';
import type { Connection } from './connection.js';

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

/** Newest first. */
export function listRejections(connection: Connection, organizationId?: string): Rejection[] {
  const rows = connection.rows<[string]>(
    sql`SELECT record FROM rejections WHERE ?1 IS NULL OR organization_id = ?1 ORDER BY rejected_ms DESC, id DESC LIMIT ?2`,
    organizationId ?? null,
    REJECTION_LIMITS.records,
  );
  return fromJson(`[${rows.join(',')}]`);
}

export function deleteRejections(connection: Connection, ids: readonly string[]): void {
  for (const id of ids) connection.run(sql`DELETE FROM rejections WHERE id = ?`, id);
}
