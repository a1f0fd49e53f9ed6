import type { ErasureProof } from '../../../contacts/erasure-store.js';
import { sql } from '../../../shared/sql.js';
import { formatTimestamp } from '../../../shared/time.js';
import type { Connection } from '../connection.js';

/**
 * Takes what erasures deleted out of the write-ahead log, which keeps pages as they were before; in the database it was overwritten as it
 * was deleted. Outside of a transaction. False where a reader still needs the log: the next call goes on.
 */
export function completeErasures(connection: Connection, now: number): boolean {
  const pending = connection.rows<[string, string]>(
    sql`SELECT id, proof FROM erasures WHERE completed_at IS NULL`,
  );
  if (pending.length === 0) return true;
  if (!connection.truncateLog()) return false;
  const completedAt = formatTimestamp(now);
  connection.writeTransaction(() => {
    for (const [id, proof] of pending) {
      const completed: ErasureProof = { ...(JSON.parse(proof) as ErasureProof), completed_at: completedAt };
      connection.run(
        sql`UPDATE erasures SET proof = ?, completed_at = ? WHERE id = ?`,
        JSON.stringify(completed),
        completedAt,
        id,
      );
    }
  });
  return true;
}
