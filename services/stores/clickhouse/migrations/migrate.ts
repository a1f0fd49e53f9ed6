import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ClickHouse, Layout } from '../client.js';
import { onCluster, render } from './render.js';

const FOLDER = fileURLToPath(new URL('../../../../../mappings/clickhouse/', import.meta.url));

/** Another version's migrations created the database, so its tables differ. The message says what to do. */
export class MigrationChangedError extends Error {
  override readonly name = 'MigrationChangedError';

  constructor(migration: string) {
    super(
      `The ClickHouse tables were created by another version of Reachline (its ${migration} differs), and this version cannot upgrade them. Use the version that created them, or (on a server) name an empty database with CLICKHOUSE_DATABASE, or name an empty folder with REACHLINE_DATA_DIR and load the records again.`,
    );
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

/** Those of a server, which also holds copies of the records of the search store. */
export function serverMigrations(): Migration[] {
  const own = readMigrations(`${FOLDER}server/`);
  return [...readMigrations(), ...own.map((each) => ({ ...each, name: `server/${each.name}` }))];
}

/** The migrations that are not applied. Throws `MigrationChangedError` when one was applied with another content. */
export function pendingMigrations(
  applied: readonly { name: string; checksum: string }[],
  migrations: readonly Migration[] = serverMigrations(),
): Migration[] {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum } of migrations) {
    if ((checksums.get(name) ?? checksum) !== checksum) throw new MigrationChangedError(name);
  }
  return migrations.filter(({ name }) => !checksums.has(name));
}

/** In a cluster every node has a copy of the whole, whatever its shard. */
function migrationsTable({ tables, cluster }: Layout): string {
  const engine =
    cluster === null
      ? 'MergeTree'
      : `ReplicatedMergeTree('/clickhouse/tables/${tables}/schema_migrations', '{shard}-{replica}')`;
  return `CREATE TABLE IF NOT EXISTS schema_migrations${onCluster(cluster)} (name String, checksum String)
ENGINE = ${engine} ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;
}

/** Applies the missing migrations and returns their names. Statements are repeatable, so a crash in between is harmless. */
export async function migrate(
  clickhouse: ClickHouse,
  migrations: Migration[] = clickhouse.engine ? readMigrations() : serverMigrations(),
): Promise<string[]> {
  const { layout } = clickhouse;
  await clickhouse.createDatabase();
  await clickhouse.command('migrate', migrationsTable(layout));
  const { rows } = await clickhouse.query<{ name: string; checksum: string }>({
    name: 'read_migrations',
    sql: 'SELECT name, checksum FROM schema_migrations',
    params: {},
  });
  const pending = pendingMigrations(rows, migrations);
  for (const { name, sql, checksum } of pending) {
    for (const statement of render(sql, layout)) await clickhouse.command('migrate', statement);
    await clickhouse.insert('record_migration', {
      table: 'schema_migrations',
      columns: ['name', 'checksum'],
      text: `${name}\t${checksum}\n`,
    });
  }
  return pending.map(({ name }) => name);
}
