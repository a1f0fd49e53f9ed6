import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../shared/fs.js';
import type { Connection } from '../connection.js';

const defaultFolder = join(packageRoot, 'mappings', 'sqlite');

/** Other migrations than those of this package created the database, so its tables may differ. The message says what to do. */
export class MigrationChangedError extends Error {
  override readonly name = 'MigrationChangedError';

  constructor(migration: string) {
    super(
      `The data folder was created by another version of Reachline (its ${migration} differs), and this version cannot upgrade it. Use the version that created it, or name an empty folder with REACHLINE_DATA_DIR and load the records again.`,
    );
  }
}

/** Applies pending numbered files in order, and returns their names. Safe when several processes migrate at once. */
export function migrate(connection: Connection, folder: string = defaultFolder): string[] {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name), 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    });
  if (pending(connection, files).length === 0) return [];
  return connection.writeTransaction(() => {
    connection.exec(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL
       ) WITHOUT ROWID`,
    );
    const todo = pending(connection, files);
    for (const { name, sql, sha256 } of todo) {
      connection.exec(sql);
      connection.run(
        `INSERT INTO schema_migrations (name, sha256, applied_at) VALUES (?, ?, ?)`,
        name,
        sha256,
        new Date().toISOString(),
      );
    }
    return todo.map(({ name }) => name);
  });
}

function pending<File extends { name: string; sha256: string }>(
  connection: Connection,
  files: File[],
): File[] {
  const known = connection.row(`SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'`);
  const applied = new Map(
    known ? connection.rows<[string, string]>(`SELECT name, sha256 FROM schema_migrations`) : [],
  );
  return files.filter(({ name, sha256 }) => {
    const before = applied.get(name);
    if (before !== undefined && before !== sha256) {
      throw new MigrationChangedError(name);
    }
    return before === undefined;
  });
}
