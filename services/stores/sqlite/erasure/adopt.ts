import { sql } from '../../../shared/sql.js';
import { DataFolderError } from '../../data-folder/errors.js';
import { lastChange } from '../change-counter.js';
import { Connection } from '../connection.js';
import { openDatabase } from '../database.js';
import { isMigrated } from '../migrations/migrate.js';
import { WriteSession } from '../writes/write-session.js';
import { completeErasures } from './complete.js';
import { removeSuppressed, type SuppressedContacts } from './erase.js';
import { addEntry } from './suppression.js';

const CACHE_MB = 64;

export interface AdoptedErasures extends SuppressedContacts {
  erasures: number;
}

/**
 * Imports the suppression list and the proofs of a newer database, and erases the persons on that list from the database of `dataDir`,
 * which no other process may have open. Throws `DataFolderError` if the two databases come from different installations or the newer one
 * lacks tables, and the errors of `openDatabase` and `completeErasures`.
 */
export async function adoptErasures(
  dataDir: string,
  newerPath: string,
  now: number,
): Promise<AdoptedErasures> {
  const newer = new Connection(newerPath, { cacheMb: 8, readOnly: true });
  try {
    if (!isMigrated(newer)) {
      throw new DataFolderError(
        'The newer data folder lacks tables of this version: start a server on it once, then restore again.',
      );
    }
    const [secret] = newer.row<[string]>(sql`SELECT secret FROM suppression_secret`) ?? [];
    if (secret === undefined) return { erasures: 0, removed: 0, changed: 0 };
    const connection = await openDatabase(dataDir, CACHE_MB);
    try {
      const erasures = connection.writeTransaction(() => copyList(newer, connection, secret));
      const session = new WriteSession(connection);
      const contacts = session.transaction(() => removeSuppressed(session));
      completeErasures(connection, now);
      return { erasures, ...contacts };
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
  for (const [organizationId, hash, isNamed] of newer.each<[string, string, bigint]>(
    sql`SELECT organization_id, hash, named FROM suppressed`,
  )) {
    addEntry(connection, { organizationId, hash, isNamed: isNamed === 1n });
  }
  // The copy for SQL in the backup may hold these persons, so the proofs wait for a new copy.
  connection.run(sql`UPDATE counters SET value = value + 1 WHERE name = 'change'`);
  const change = lastChange(connection);
  let count = 0;
  for (const row of newer.each<[string, string, string]>(
    sql`SELECT id, organization_id, proof FROM erasures`,
  )) {
    connection.run(
      sql`INSERT OR REPLACE INTO erasures (id, organization_id, proof, completed_at, change) VALUES (?, ?, ?, NULL, ?)`,
      ...row,
      change,
    );
    count++;
  }
  return count;
}
