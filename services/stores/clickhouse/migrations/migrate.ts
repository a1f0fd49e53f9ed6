import { join } from 'node:path';
import { packageRoot } from '../../../shared/fs.js';
import { checkedIdentifier, sql } from '../../../shared/sql.js';
import { StoreUnavailableError } from '../../../shared/store-errors.js';
import {
  type Migration,
  MigrationNeededError,
  pendingMigrations,
  readMigrations,
  UnreleasedVersionError,
} from '../../common/migrations.js';
import type { ClickHouse } from '../client.js';
import { type IdOfTable, render } from './render.js';

const FOLDER = join(packageRoot, 'mappings/clickhouse');

const unreleased = ({ engine, layout }: Pick<ClickHouse, 'engine' | 'layout'>) =>
  engine
    ? new UnreleasedVersionError('The data folder', 'an empty folder (REACHLINE_DATA_DIR)')
    : new UnreleasedVersionError(
        `The ClickHouse database ${layout.tables}`,
        'an empty database (CLICKHOUSE_DATABASE)',
      );

export const allMigrations = (): Migration[] => readMigrations(FOLDER);

/** Migrations that are not applied. Throws `UnreleasedVersionError` if one was applied with other content. */
export async function missingMigrations(
  clickhouse: ClickHouse,
  migrations: readonly Migration[] = allMigrations(),
): Promise<Migration[]> {
  const applied = await appliedMigrations(clickhouse);
  // Earlier commits had migrations for servers alone in a folder of their own.
  if (applied.some(({ name }) => name.startsWith('server/'))) throw unreleased(clickhouse);
  return pendingMigrations(
    migrations,
    applied.map(({ name, checksum }) => [name, checksum]),
    () => unreleased(clickhouse),
  );
}

const MIGRATIONS_TABLE = sql`CREATE TABLE IF NOT EXISTS schema_migrations (name String, checksum String)
ENGINE = MergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** Applies the missing migrations and returns their names. Statements can be repeated, so a crash in between is harmless. */
export async function migrate(
  clickhouse: ClickHouse,
  migrations: Migration[] = allMigrations(),
  idOf?: IdOfTable,
): Promise<string[]> {
  const { layout } = clickhouse;
  await clickhouse.createDatabase();
  await clickhouse.command('migrate', MIGRATIONS_TABLE);
  const pending = await missingMigrations(clickhouse, migrations);
  if (pending.length === 0) return [];
  for (const { statements } of pending) {
    for (const statement of render(statements, layout, idOf)) await clickhouse.command('migrate', statement);
  }
  // Records all migrations with one insert, because an insert takes longer than most migrations.
  await clickhouse.insert('record_migration', {
    table: 'schema_migrations',
    columns: ['name', 'checksum'],
    text: pending.map(({ name, checksum }) => `${name}\t${checksum}\n`).join(''),
  });
  return pending.map(({ name }) => name);
}

interface Applied {
  name: string;
  checksum: string;
}

/** Reads the applied migrations; empty if there are no tables yet. */
async function appliedMigrations(clickhouse: ClickHouse): Promise<Applied[]> {
  const statement = sql`SELECT name, checksum FROM ${checkedIdentifier(clickhouse.layout.tables)}.schema_migrations`;
  try {
    return (await clickhouse.query<Applied>({ name: 'read_migrations', sql: statement, params: {} })).rows;
  } catch (error) {
    const { type } = ((error instanceof StoreUnavailableError && error.cause) || {}) as { type?: string };
    if (type === 'UNKNOWN_DATABASE' || type === 'UNKNOWN_TABLE') return [];
    throw error;
  }
}

/** Throws `MigrationNeededError` unless all migrations are applied, and `UnreleasedVersionError`. */
export async function requireMigrations(clickhouse: ClickHouse): Promise<void> {
  const missing = await missingMigrations(clickhouse);
  if (missing.length === 0) return;
  throw new MigrationNeededError(
    `ClickHouse lacks ${missing.length} migrations, from ${missing[0]?.name} on. Run: reachline migrate`,
  );
}
