import { join } from 'node:path';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { Connection } from './connection.js';
import { TEXT_INDEXES } from './writes/write-session.js';

/** Problems that SQLite itself looks for; more would only repeat the first. */
const MAX_PROBLEMS = 20;

/**
 * Reads the whole database and says what is wrong with it, in SQLite's words; an empty list when nothing is. Servers may have
 * it open meanwhile. Takes about a minute for 10 GB.
 */
export function checkIntegrity(dataDir: string): string[] {
  let connection: Connection | undefined;
  try {
    connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 8 });
    const rows = connection.rows<[string]>(`PRAGMA integrity_check(${MAX_PROBLEMS})`);
    const problems = rows.map(([text]) => text).filter((text) => text !== 'ok');
    for (const index of Object.keys(TEXT_INDEXES)) {
      connection.run(`INSERT INTO ${index} (${index}) VALUES ('integrity-check')`);
    }
    return problems;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    connection?.close();
  }
}
