import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { HttpOptions } from './client.js';
import { openHttp } from './http.js';
import { missingMigrations } from './migrations/migrate.js';
import { findDamagedParts } from './parts.js';
import { recordCopy } from './record-copy.js';

/** State of a server; inspecting changes nothing. */
export interface ServerReport {
  version: string;
  /** Migrations that have not been applied. */
  missing: string[];
  /** When the copy of contacts and audiences was begun, in milliseconds since the epoch; null before the first. */
  copiedAt: number | null;
}

const MISSING_ERRORS = ['UNKNOWN_DATABASE', 'UNKNOWN_TABLE'];

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
      .then((result) => result.rows)
      .catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
    const missing = missingMigrations(applied).map(({ name }) => name);
    return { version: rows[0]?.version ?? '', missing, copiedAt: await recordCopy(server).beganAt() };
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

function isMissing(error: unknown): boolean {
  const { type } = ((error instanceof StoreUnavailableError && error.cause) || {}) as { type?: string };
  return type !== undefined && MISSING_ERRORS.includes(type);
}
