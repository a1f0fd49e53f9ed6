/** Takes the bytes of erased contacts out of the files: a deleted row stays readable in free pages, old segments and the log. */
import type { ErasureProof } from '../../../contacts/erasure-store.js';
import { StoreUnavailableError } from '../../../shared/store-errors.js';
import { formatTimestamp } from '../../../shared/time.js';
import type { Connection } from '../connection.js';
import { TEXT_INDEXES } from '../text/text-index.js';
import { WriteSession } from '../writes/write-session.js';
import { removeSuppressed } from './erase.js';

/**
 * Completes pending erasures; outside of a transaction. Takes as long as writing the whole database. Throws
 * `StoreUnavailableError` where readers or the disk stop it: the next call goes on.
 */
export function completeErasures(connection: Connection, now: number): void {
  const pending = connection.rows<[string, string]>(
    `SELECT id, proof FROM erasures WHERE completed_at IS NULL`,
  );
  if (pending.length === 0) return;
  for (const index of Object.keys(TEXT_INDEXES)) {
    connection.run(`INSERT INTO ${index} (${index}) VALUES ('optimize')`);
  }
  // In memory, the copy that VACUUM makes would take as much as the file.
  connection.exec('PRAGMA temp_store = FILE');
  try {
    connection.exec('VACUUM');
  } finally {
    connection.exec('PRAGMA temp_store = MEMORY');
  }
  truncateLog(connection);
  const completedAt = formatTimestamp(now);
  connection.writeTransaction(() => {
    for (const [id, proof] of pending) {
      const completed: ErasureProof = { ...(JSON.parse(proof) as ErasureProof), completed_at: completedAt };
      connection.run(
        `UPDATE erasures SET proof = ?, completed_at = ? WHERE id = ?`,
        JSON.stringify(completed),
        completedAt,
        id,
      );
    }
  });
}

/** What a process that died, or a backup from before an erasure, left of erased contacts. As `completeErasures`. */
export function resumeErasures(connection: Connection, now: number): void {
  const isPending = connection.row(`SELECT 1 FROM erasures WHERE completed_at IS NULL LIMIT 1`);
  if (isPending === undefined) return;
  const session = new WriteSession(connection);
  session.transaction(() => removeSuppressed(session));
  completeErasures(connection, now);
}

function truncateLog(connection: Connection): void {
  // Waits for readers up to the busy timeout.
  const [busy] = connection.row<[bigint]>(`PRAGMA wal_checkpoint(TRUNCATE)`) as [bigint];
  if (busy === 0n) return;
  throw new StoreUnavailableError('search', {
    cause: new Error('readers keep the write-ahead log from being truncated'),
  });
}
