import { join } from 'node:path';
import { packageRoot } from '../../../shared/fs.js';
import { checkedIdentifier, sql } from '../../../shared/sql.js';
import { StoreUnavailableError } from '../../../shared/store-errors.js';
import {
  type Migration,
  MigrationNeededError,
  pendingMigrations,
  readMigrations,
} from '../../common/migrations.js';
import type { ClickHouse } from '../client.js';
import { type IdOfTable, render } from './render.js';

const FOLDER = join(packageRoot, 'mappings/clickhouse');

const otherVersion = (migration: string) =>
  `The ClickHouse tables were created by another version of Reachline (its ${migration} differs), and this version cannot upgrade them. Use the version that created them, or (on a server) name an empty database with CLICKHOUSE_DATABASE, or name an empty folder with REACHLINE_DATA_DIR and load the records again.`;

/** Migrations of the embedded engine and of servers. */
export const commonMigrations = (): Migration[] => readMigrations(FOLDER);

/** Migrations of a server, which also holds copies of contacts, audiences and visits. */
export function serverMigrations(): Migration[] {
  const own = readMigrations(join(FOLDER, 'server'));
  return [...commonMigrations(), ...own.map((each) => ({ ...each, name: `server/${each.name}` }))];
}

/** The migrations that are not applied. Throws `MigrationChangedError` when one was applied with another content. */
export const missingMigrations = (
  applied: readonly { name: string; checksum: string }[],
  migrations: readonly Migration[] = serverMigrations(),
): Migration[] =>
  pendingMigrations(
    migrations,
    applied.map(({ name, checksum }) => [name, checksum]),
    otherVersion,
  );

const MIGRATIONS_TABLE = sql`CREATE TABLE IF NOT EXISTS schema_migrations (name String, checksum String)
ENGINE = MergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Applies the missing migrations and returns their names. Statements are repeatable, so a crash in between is harmless. */
export async function migrate(
  clickhouse: ClickHouse,
  migrations: Migration[] = clickhouse.engine ? commonMigrations() : serverMigrations(),
  idOf?: IdOfTable,
): Promise<string[]> {
  const { layout } = clickhouse;
  await clickhouse.createDatabase();
  await clickhouse.command('migrate', MIGRATIONS_TABLE);
  const pending = missingMigrations(await appliedMigrations(clickhouse), migrations);
  for (const { statements } of pending) await clickhouse.command('migrate', render(statements, layout, idOf));
  // Record all migrations with one insert, because an insert takes longer than most migrations.
  if (pending.length > 0) {
    await clickhouse.insert('record_migration', {
      table: 'schema_migrations',
      columns: ['name', 'checksum'],
      text: pending.map(({ name, checksum }) => `${name}\t${checksum}\n`).join(''),
    });
  }
  return pending.map(({ name }) => name);
}

interface Applied {
  name: string;
  checksum: string;
}

/** Empty when there are no tables yet. */
export async function appliedMigrations(clickhouse: ClickHouse): Promise<Applied[]> {
  const statement = sql`SELECT name, checksum FROM ${checkedIdentifier(clickhouse.layout.tables)}.schema_migrations`;
  try {
    return (await clickhouse.query<Applied>({ name: 'read_migrations', sql: statement, params: {} })).rows;
  } catch (error) {
    const { type } = ((error instanceof StoreUnavailableError && error.cause) || {}) as { type?: string };
    if (type === 'UNKNOWN_DATABASE' || type === 'UNKNOWN_TABLE') return [];
    throw error;
  }
}

/** Throws `MigrationNeededError` unless all migrations are applied, and `MigrationChangedError`. */
export async function requireMigrations(clickhouse: ClickHouse): Promise<void> {
  const missing = missingMigrations(await appliedMigrations(clickhouse));
  if (missing.length === 0) return;
  throw new MigrationNeededError(
    `ClickHouse lacks ${missing.length} migrations, from ${missing[0]?.name} on. Run: reachline migrate`,
  );
}
