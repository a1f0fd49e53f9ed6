import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../../../shared/time.js';
import { DataFolderError } from '../../data-folder/errors.js';
import { SEARCH_FILE } from '../../data-folder/layout.js';
import { lockDataFolder } from '../../data-folder/lock.js';
import { Connection } from '../connection.js';
import { openDatabase } from '../database.js';
import { withStoreErrors } from '../errors.js';
import { resumeErasures } from './complete.js';

const CACHE_MB = 64;

/**
 * Copies the erasures of another data folder, or of the stores in a backup, into this one, which holds older records, and erases
 * again. Resolves with how many erasures there were. Throws `DataFolderError` and `StoreUnavailableError`.
 */
export async function carryErasures(dataDir: string, from: string): Promise<number> {
  const path = join(from, SEARCH_FILE);
  if (!existsSync(path)) throw new DataFolderError(`${resolve(from)} holds no ${SEARCH_FILE}.`);
  const lock = lockDataFolder(dataDir);
  try {
    const connection = await openDatabase(dataDir, CACHE_MB);
    try {
      return withStoreErrors(() => {
        const count = copyRows(connection, path);
        resumeErasures(connection, systemClock.now());
        return count;
      });
    } finally {
      connection.close();
    }
  } finally {
    lock.release();
  }
}

function copyRows(connection: Connection, path: string): number {
  const source = new Connection(path, { cacheMb: 8, readOnly: true });
  try {
    const secrets = source.rows<[string]>(`SELECT secret FROM suppression_secret`);
    const suppressed = source.rows<[string, string]>(`SELECT organization_id, hash FROM suppressed`);
    const erasures = source.rows<[string, string, string]>(`SELECT id, organization_id, proof FROM erasures`);
    connection.writeTransaction(() => {
      for (const [secret] of secrets) requireSameSecret(connection, secret);
      for (const [organizationId, hash] of suppressed) {
        connection.run(
          `INSERT INTO suppressed (organization_id, hash) VALUES (?, ?) ON CONFLICT DO NOTHING`,
          organizationId,
          hash,
        );
      }
      for (const [id, organizationId, proof] of erasures) {
        connection.run(
          `INSERT OR REPLACE INTO erasures (id, organization_id, proof, completed_at) VALUES (?, ?, ?, NULL)`,
          id,
          organizationId,
          proof,
        );
      }
    });
    return erasures.length;
  } finally {
    source.close();
  }
}

function requireSameSecret(connection: Connection, secret: string): void {
  const own = connection.row<[string]>(`SELECT secret FROM suppression_secret`)?.[0];
  if (own === secret) return;
  if (own !== undefined) {
    throw new DataFolderError(
      'The two folders are of different installations: their suppression lists have different secrets. Erase the persons again instead.',
    );
  }
  connection.run(`INSERT INTO suppression_secret (only, secret) VALUES (1, ?)`, secret);
}
