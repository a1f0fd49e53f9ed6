import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { HttpOptions } from './client.js';
import { openHttp } from './http.js';
import { MigrationChangedError, readMigrations } from './migrations/migrate.js';
import { findDamagedParts } from './parts.js';

/** A server as it is found, nothing of it changed. */
export interface ServerReport {
  version: string;
  /** Migrations that have not been applied. */
  missing: string[];
}

const NOT_THERE = ['UNKNOWN_DATABASE', 'UNKNOWN_TABLE'];

/** Throws what opening the store would: `StoreUnavailableError`, `StoreTimeoutError`, `MigrationChangedError`. */
export async function inspectClickHouse(options: HttpOptions): Promise<ServerReport> {
  const server = openHttp(options, 'default');
  try {
    const { rows } = await server.query<{ version: string }>({
      name: 'version',
      sql: 'SELECT version() AS version',
      params: {},
    });
    const applied = await server
      .query<{ name: string; checksum: string }>({
        name: 'read_migrations',
        sql: `SELECT name, checksum FROM ${server.layout.tables}.schema_migrations`,
        params: {},
      })
      .then(({ rows }) => new Map(rows.map(({ name, checksum }) => [name, checksum])))
      .catch((error: unknown) => {
        if (isNotThere(error)) return new Map<string, string>();
        throw error;
      });
    const missing: string[] = [];
    for (const { name, checksum } of readMigrations()) {
      const before = applied.get(name);
      if (before === undefined) missing.push(name);
      else if (before !== checksum) throw new MigrationChangedError(name);
    }
    return { version: rows[0]?.version ?? '', missing };
  } finally {
    await server.close();
  }
}

/** Parts of a server's tables that are damaged. Throws `StoreUnavailableError` and `StoreTimeoutError`. */
export async function inspectParts(options: HttpOptions): Promise<string[]> {
  const server = openHttp(options);
  try {
    return await findDamagedParts(server);
  } finally {
    await server.close();
  }
}

function isNotThere(error: unknown): boolean {
  const { type } = ((error instanceof StoreUnavailableError && error.cause) || {}) as { type?: string };
  return type !== undefined && NOT_THERE.includes(type);
}
