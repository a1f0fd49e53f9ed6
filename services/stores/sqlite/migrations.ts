import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';
import type { Connection } from './connection.js';

const defaultFolder = join(packageRoot, 'mappings', 'sqlite');

/** A migration that was already applied is not the one in the package any more. */
export class MigrationChanged extends Error {
  override readonly name = 'MigrationChanged';
}

/** Applies the numbered files that were not applied yet, in order. Safe from several processes at once. */
export function migrate(connection: Connection, folder: string = defaultFolder): string[] {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name), 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    });
  if (pending(connection, files).length === 0) return [];
  return connection.writing(() => {
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
      throw new MigrationChanged(
        `${name} was applied to this data folder with other contents; restore the file and add a new migration instead`,
      );
    }
    return before === undefined;
  });
}
