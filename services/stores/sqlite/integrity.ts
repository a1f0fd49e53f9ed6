import { join } from 'node:path';
import { sql } from '../../shared/sql.js';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { Connection } from './connection.js';
import { INDEX_NAMES } from './text/text-index.js';

/** SQLite stops at this number of problems; further problems would only repeat the first. */
const MAX_PROBLEMS = 20;

/**
 * Reads the whole database and returns its problems in SQLite's words; empty if it is intact. Never throws. Safe while a server runs. Takes
 * about a minute per 10 GB.
 */
export function checkIntegrity(dataDir: string): string[] {
  let connection: Connection | undefined;
  try {
    connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 8 });
    const rows = connection.rows<[string]>(sql`PRAGMA integrity_check(${MAX_PROBLEMS})`);
    const problems = rows.map(([text]) => text).filter((text) => text !== 'ok');
    for (const index of Object.values(INDEX_NAMES)) {
      connection.run(sql`INSERT INTO ${index} (${index}) VALUES ('integrity-check')`);
    }
    return problems;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    connection?.close();
  }
}
