import type { Json } from '../../shared/json.js';
import {
  DEAD_LETTER_LIMITS,
  DEAD_LETTER_TARGET_RATIO,
  type DeadLetterQuery,
  type StoredDeadLetter,
} from '../common/dead-letters.js';
import type { Connection } from './connection.js';

/** Expired records deleted per write: enough to keep up, at no noticeable cost. */
const EXPIRED_PER_WRITE = 1000;

/** `now` in milliseconds since 1970. */
export function keepDeadLetters(
  connection: Connection,
  records: readonly StoredDeadLetter[],
  now: number,
): void {
  for (const record of records) {
    const json = JSON.stringify(record);
    connection.run(
      `INSERT OR REPLACE INTO dead_letters (id, organization_id, accepted_ms, sequence, bytes, record)
       VALUES (?, ?, ?, ?, ?, ?)`,
      record.id,
      record.organizationId,
      record.acceptedAt,
      record.sequence,
      Buffer.byteLength(json),
      json,
    );
  }
  for (const organizationId of new Set(records.map((record) => record.organizationId))) {
    deleteOldest(connection, organizationId);
  }
  connection.run(
    `DELETE FROM dead_letters WHERE id IN (
       SELECT id FROM dead_letters WHERE accepted_ms <= ? ORDER BY accepted_ms LIMIT ?)`,
    now - DEAD_LETTER_LIMITS.ageMs,
    EXPIRED_PER_WRITE,
  );
}

function deleteOldest(connection: Connection, organizationId: string): void {
  const [count = 0n, bytes = 0n] =
    connection.row<[bigint, bigint]>(
      `SELECT count(*), coalesce(sum(bytes), 0) FROM dead_letters WHERE organization_id = ?`,
      organizationId,
    ) ?? [];
  if (count <= DEAD_LETTER_LIMITS.records && bytes <= DEAD_LETTER_LIMITS.bytes) return;
  connection.run(
    `DELETE FROM dead_letters WHERE id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
           FROM dead_letters WHERE organization_id = ?
         WINDOW newest AS (ORDER BY accepted_ms DESC, sequence DESC, id DESC ROWS UNBOUNDED PRECEDING))
        WHERE place > ? OR total > ?)`,
    organizationId,
    DEAD_LETTER_LIMITS.records * DEAD_LETTER_TARGET_RATIO,
    DEAD_LETTER_LIMITS.bytes * DEAD_LETTER_TARGET_RATIO,
  );
}

/** Oldest first. */
export function listDeadLetters(
  connection: Connection,
  { organizationId, after, limit }: DeadLetterQuery,
): Json<StoredDeadLetter[]> {
  const rows = connection.rows<[string]>(
    `SELECT record FROM dead_letters
      WHERE (?1 IS NULL OR organization_id = ?1) AND (accepted_ms, sequence, id) > (?2, ?3, ?4)
      ORDER BY accepted_ms, sequence, id LIMIT ?5`,
    organizationId ?? null,
    after?.acceptedAt ?? -1,
    after?.sequence ?? -1,
    after?.id ?? '',
    limit,
  );
  return `[${rows.join(',')}]`;
}

export function deleteDeadLetters(connection: Connection, ids: readonly string[]): void {
  for (const id of ids) connection.run(`DELETE FROM dead_letters WHERE id = ?`, id);
}
