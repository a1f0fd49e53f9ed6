/** Migrations: numbered files of statements, each applied once, in order. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSqlFile, type Sql } from '../../shared/sql.js';

export interface Migration {
  name: string;
  statements: Sql;
  /** SHA-256 of the statements. Comments do not count, so that they can be reworded. */
  checksum: string;
}

/** The stored data was created by a version before the first release. The message says how to move the data. */
export class UnreleasedVersionError extends Error {
  override readonly name = 'UnreleasedVersionError';

  /**
   * `data` is the subject of the sentence, such as `The data folder`. `destination` is the empty place to which the message says to move
   * the data.
   */
  constructor(data: string, destination: string) {
    super(
      `${data} is from an unreleased version of Reachline: export its records with that version (reachline export), and load them with this one (reachline ingest) into ${destination}. See docs/operating/upgrade.md.`,
    );
  }
}

/** The version of the stored data is not the version that this Reachline needs. The message says what to do. */
export class MigrationNeededError extends Error {
  override readonly name = 'MigrationNeededError';
}

/** The migrations of a folder, in order. Each is a file `NNNN_verb_noun.sql`. */
export const readMigrations = (folder: string): Migration[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((name) => {
      const statements = readSqlFile(join(folder, name));
      return { name, statements, checksum: createHash('sha256').update(statements.text).digest('hex') };
    });

/**
 * Migrations that are not applied yet. Throws the error of `unreleased` if a migration was applied with other
 * content.
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: Iterable<readonly [name: string, checksum: string]>,
  unreleased: () => UnreleasedVersionError,
): Migration[] {
  const checksums = new Map(applied);
  return migrations.filter(({ name, checksum }) => {
    const before = checksums.get(name);
    if (before !== undefined && before !== checksum) throw unreleased();
    return before === undefined;
  });
}
