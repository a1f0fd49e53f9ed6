/** Numbered files of statements, each applied once, in order. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSqlFile, type Sql } from '../../shared/sql.js';

export interface Migration {
  name: string;
  statements: Sql;
  /** SHA-256 of the statements. */
  checksum: string;
}

/** Another version's migrations created the tables, so they may differ. The message says what to do. */
export class MigrationChangedError extends Error {
  override readonly name = 'MigrationChangedError';
}

/** The stored data has another version than this Reachline needs. The message says what to do. */
export class MigrationNeededError extends Error {
  override readonly name = 'MigrationNeededError';
}

/** The migrations of a folder, `NNNN_verb_noun.sql`, in order. */
export const readMigrations = (folder: string): Migration[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((name) => {
      const statements = readSqlFile(join(folder, name));
      return { name, statements, checksum: createHash('sha256').update(statements.text).digest('hex') };
    });

/**
 * The migrations that are not applied yet. Throws `MigrationChangedError` with the message of `advice` if a migration was applied with
 * other content.
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: Iterable<readonly [name: string, checksum: string]>,
  advice: (migration: string) => string,
): Migration[] {
  const checksums = new Map(applied);
  return migrations.filter(({ name, checksum }) => {
    const before = checksums.get(name);
    if (before !== undefined && before !== checksum) throw new MigrationChangedError(advice(name));
    return before === undefined;
  });
}
