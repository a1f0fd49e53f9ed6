import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ClickHouse } from './client.js';

const FOLDER = fileURLToPath(new URL('../../../../mappings/clickhouse/', import.meta.url));

/** A migration was edited after it had been applied; the store cannot know what it holds. */
export class MigrationChanged extends Error {
  override readonly name = 'MigrationChanged';

  constructor(migration: string) {
    super(`the migration ${migration} was changed after it had been applied to this store`);
  }
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** The migrations of a folder, `NNNN_verb_noun.sql`, one statement each, in order. */
export function readMigrations(folder: string = FOLDER): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const sql = readFileSync(`${folder}/${file}`, 'utf8');
      return { name: file, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations (name String, checksum String)
ENGINE = MergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Applies what is missing and returns its names. Statements are repeatable, so a crash in between does no harm. */
export async function migrate(
  clickhouse: ClickHouse,
  migrations: Migration[] = readMigrations(),
): Promise<string[]> {
  await clickhouse.command('migrate', MIGRATIONS_TABLE);
  const { rows } = await clickhouse.query<{ name: string; checksum: string }>({
    name: 'read_migrations',
    sql: 'SELECT name, checksum FROM schema_migrations',
    params: {},
  });
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const done: string[] = [];
  for (const { name, sql, checksum } of migrations) {
    const before = applied.get(name);
    if (before === checksum) continue;
    if (before !== undefined) throw new MigrationChanged(name);
    await clickhouse.command('migrate', sql);
    await clickhouse.insert('record_migration', {
      table: 'schema_migrations',
      columns: ['name', 'checksum'],
      text: `${name}\t${checksum}\n`,
    });
    done.push(name);
  }
  return done;
}
