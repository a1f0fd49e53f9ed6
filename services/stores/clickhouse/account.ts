import { createHash } from 'node:crypto';
import type { Credentials } from '../../shared/config.js';
import { checkedIdentifier, quotedIdentifier, type Sql, sql, textLiteral } from '../../shared/sql.js';
import type { HttpOptions, Layout } from './client.js';
import { openServers } from './http.js';

/**
 * Privileges that migrations, gateways and workers need. They are limited to the databases of Reachline, and include no rights on users.
 */
const TABLE_PRIVILEGES = sql`SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW`;
const VIEW_PRIVILEGES = sql`SELECT, CREATE DATABASE, CREATE VIEW, DROP VIEW`;

/** Grants for the account of Reachline, each as `<privileges> ON <object>`. */
export function accountGrants({ tables, views, copies, isReplicated }: Layout): Sql[] {
  return [
    sql`${TABLE_PRIVILEGES} ON ${checkedIdentifier(tables)}.*`,
    sql`${TABLE_PRIVILEGES} ON ${checkedIdentifier(copies)}.*`,
    sql`${VIEW_PRIVILEGES} ON ${checkedIdentifier(views)}.*`,
    // Needed by `doctor --deep`.
    sql`SELECT ON system.parts`,
    // For doctor.
    ...(isReplicated ? [sql`SELECT ON system.clusters`, sql`SELECT ON system.replicas`] : []),
  ];
}

/**
 * Statements that create an account. A second run changes the password. Only the hash of the password crosses the network and reaches logs.
 */
export function accountStatements(layout: Layout, { username, password }: Credentials): Sql[] {
  const user = quotedIdentifier(username);
  const hash = createHash('sha256').update(password).digest('hex');
  const identified = sql`${user} IDENTIFIED WITH sha256_hash BY ${textLiteral(hash)}`;
  return [
    sql`CREATE USER IF NOT EXISTS ${identified}`,
    sql`ALTER USER ${identified}`,
    ...accountGrants(layout).map((grant) => sql`GRANT ${grant} TO ${user}`),
  ];
}

/**
 * Creates Reachline's account on each server; `admin` is the administrator who signs in. Throws `StoreUnavailableError` or
 * `StoreTimeoutError`.
 */
export async function createClickHouseAccount(options: HttpOptions, admin: Credentials): Promise<void> {
  const servers = openServers({ ...options, ...admin }, 'default');
  try {
    for (const server of servers) {
      for (const statement of accountStatements(server.layout, options))
        await server.command('create_account', statement);
    }
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}
