import { sql } from '../../../shared/sql.js';
import { DataFolderError } from '../../data-folder/errors.js';
import { Connection } from '../connection.js';
import { openDatabase } from '../database.js';
import { WriteSession } from '../writes/write-session.js';
import { completeErasures } from './complete.js';
import { removeSuppressed } from './erase.js';

const CACHE_MB = 64;

/**
 * Takes over the suppression list and the proofs of a newer database, and erases its persons from the database of `dataDir`, which no
 * other process has open. Returns the number of erasures. Throws `DataFolderError` when the two come from different installations, and
 * as `openDatabase` and `completeErasures` do.
 */
export async function adoptErasures(dataDir: string, newerPath: string, now: number): Promise<number> {
  const newer = new Connection(newerPath, { cacheMb: 8, readOnly: true });
  try {
    const hasList = newer.row(sql`SELECT 1 FROM sqlite_schema WHERE name = 'suppression_secret'`);
    const secret = hasList && newer.row<[string]>(sql`SELECT secret FROM suppression_secret`)?.[0];
    if (!secret) return 0;
    const connection = await openDatabase(dataDir, CACHE_MB);
    try {
      const count = connection.writeTransaction(() => copyList(newer, connection, secret));
      const session = new WriteSession(connection);
      session.transaction(() => removeSuppressed(session));
      completeErasures(connection, now);
      return count;
    } finally {
      connection.close();
    }
  } finally {
    newer.close();
  }
}

function copyList(newer: Connection, connection: Connection, secret: string): number {
  const [own] = connection.row<[string]>(sql`SELECT secret FROM suppression_secret`) ?? [secret];
  if (own !== secret) {
    throw new DataFolderError(
      'The suppression list is of another installation: its entries mean nothing to this backup.',
    );
  }
  connection.run(sql`INSERT OR IGNORE INTO suppression_secret (only, secret) VALUES (1, ?)`, secret);
  for (const row of newer.each<[string, string]>(sql`SELECT organization_id, hash FROM suppressed`)) {
    connection.run(sql`INSERT OR IGNORE INTO suppressed (organization_id, hash) VALUES (?, ?)`, ...row);
  }
  let count = 0;
  for (const row of newer.each<[string, string, string]>(
    sql`SELECT id, organization_id, proof FROM erasures`,
  )) {
    connection.run(
      sql`INSERT OR REPLACE INTO erasures (id, organization_id, proof, completed_at, work) VALUES (?, ?, ?, NULL, NULL)`,
      ...row,
    );
    count++;
  }
  return count;
}
