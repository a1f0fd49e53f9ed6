/** The numbering of changes of contacts, over all organizations. */
import { existsSync } from 'node:fs';
import { sql } from '../../shared/sql.js';
import { Connection } from './connection.js';

/** Number of the last change. */
export const lastChange = (connection: Connection): number =>
  connection.number(sql`SELECT value FROM counters WHERE name = 'change'`) as number;

/** Begins a new numbering, so that earlier positions in the feed of changes expire. */
export const beginEpoch = (connection: Connection): number =>
  connection.run(sql`UPDATE change_feed SET epoch = lower(hex(randomblob(8)))`);

/** Begins a new numbering in a restored database, whose numbers were given to other changes since the backup. */
export function renewChangeEpoch(path: string): void {
  if (!existsSync(path)) return;
  const connection = new Connection(path, { cacheMb: 8 });
  try {
    const isThere = connection.row(sql`SELECT 1 FROM sqlite_schema WHERE name = 'change_feed'`);
    if (isThere) beginEpoch(connection);
  } finally {
    connection.close();
  }
}
