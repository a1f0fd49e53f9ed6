import { join } from 'node:path';
import { packageRoot } from '../../../shared/fs.js';
import { sql } from '../../../shared/sql.js';
import {
  type Migration,
  pendingMigrations,
  readMigrations,
  UnreleasedVersionError,
} from '../../common/migrations.js';
import type { Connection } from '../connection.js';

const FOLDER = join(packageRoot, 'mappings/sqlite');

const unreleased = () =>
  new UnreleasedVersionError('The data folder', 'an empty folder (REACHLINE_DATA_DIR)');

/**
 * Applies pending migrations in order, all or none, and returns their names. Safe if several processes migrate at once. Throws
 * `UnreleasedVersionError`.
 */
export function migrate(connection: Connection, folder = FOLDER): string[] {
  const migrations = readMigrations(folder);
  if (pending(connection, migrations).length === 0) return [];
  return connection.writeTransaction(() => {
    connection.exec(
      sql`CREATE TABLE IF NOT EXISTS schema_migrations (
         name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL
       ) WITHOUT ROWID`,
    );
    const todo = pending(connection, migrations);
    for (const { name, statements, checksum } of todo) {
      connection.exec(statements);
      connection.run(
        sql`INSERT INTO schema_migrations (name, sha256, applied_at) VALUES (?, ?, ?)`,
        name,
        checksum,
        new Date().toISOString(),
      );
    }
    return todo.map(({ name }) => name);
  });
}

/** Whether the database has every table of this version. Changes nothing. Throws `UnreleasedVersionError`. */
export const isMigrated = (connection: Connection): boolean =>
  pending(connection, readMigrations(FOLDER)).length === 0;

function pending(connection: Connection, migrations: readonly Migration[]): Migration[] {
  const known = connection.row(sql`SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'`);
  const applied = known
    ? connection.rows<[string, string]>(sql`SELECT name, sha256 FROM schema_migrations`)
    : [];
  return pendingMigrations(migrations, applied, unreleased);
}
