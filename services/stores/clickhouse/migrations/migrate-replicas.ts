import { randomUUID } from 'node:crypto';
import { sql } from '../../../shared/sql.js';
import { MigrationNeededError } from '../../common/migrations.js';
import type { ClickHouseServer, HttpOptions } from '../client.js';
import { openServers } from '../http.js';
import { allMigrations, migrate } from './migrate.js';

/**
 * Applies missing migrations to every replica, so that a new replica gets its tables. Throws `MigrationNeededError` if the tables of some
 * replicas do not replicate each other.
 */
export async function migrateReplicas(options: HttpOptions): Promise<void> {
  const servers = openServers(options);
  try {
    // A table has one id on all replicas. The ids are read again after each server, because another process may be creating tables.
    for (const server of servers) await server.createDatabase();
    let known = await readTableIds(servers);
    for (const server of servers) {
      await migrate(server, allMigrations(), (table) => known.get(table) ?? randomUUID());
      known = await readTableIds(servers);
    }
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

/** Ids of the replicated tables by name, from all replicas. */
async function readTableIds(servers: readonly ClickHouseServer[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const server of servers) {
    const { rows } = await server.query<{ name: string; uuid: string }>({
      name: 'table_ids',
      sql: sql`SELECT name, uuid FROM system.tables WHERE database = {database:String} AND engine LIKE 'Replicated%'`,
      params: { database: server.layout.tables },
    });
    for (const { name, uuid } of rows) {
      if ((ids.get(name) ?? uuid) !== uuid) {
        throw new MigrationNeededError(
          `The ClickHouse table ${server.layout.tables}.${name} of ${server.url} is no replica of that of the servers before it in CLICKHOUSE_URL: drop its database there, which then gets everything. Run: reachline migrate`,
        );
      }
      ids.set(name, uuid);
    }
  }
  return ids;
}
