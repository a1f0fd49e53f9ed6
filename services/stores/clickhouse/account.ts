import { createHash } from 'node:crypto';
import type { Credentials } from '../../shared/config.js';
import type { HttpOptions, Layout } from './client.js';
import { openHttp } from './http.js';
import { onCluster } from './migrations/render.js';

/** All that migrations, gateways and workers need, within its databases and without rights on users. */
const TABLE_PRIVILEGES =
  'SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW';
const VIEW_PRIVILEGES = 'SELECT, CREATE DATABASE, CREATE VIEW, DROP VIEW';

/** Each as `<privileges> ON <object>`. */
export function accountGrants({ tables, views, copies, cluster }: Layout): string[] {
  return [
    `${TABLE_PRIVILEGES} ON ${tables}.*`,
    `${TABLE_PRIVILEGES} ON ${copies}.*`,
    `${VIEW_PRIVILEGES} ON ${views}.*`,
    // For doctor --deep.
    'SELECT ON system.parts',
    ...(cluster === null ? [] : ['CLUSTER ON *.*']),
  ];
}

/** Repeatable: a second run changes the password. Only its hash crosses the network and reaches logs. */
export function accountStatements(layout: Layout, { username, password }: Credentials): string[] {
  const everywhere = onCluster(layout.cluster);
  const user = `\`${username}\``;
  const hash = createHash('sha256').update(password).digest('hex');
  const identified = `${user}${everywhere} IDENTIFIED WITH sha256_hash BY '${hash}'`;
  return [
    `CREATE USER IF NOT EXISTS ${identified}`,
    `ALTER USER ${identified}`,
    ...accountGrants(layout).map((grant) => `GRANT${everywhere} ${grant} TO ${user}`),
  ];
}

/** Creates Reachline's account with that of an administrator. Throws `StoreUnavailableError` or `StoreTimeoutError`. */
export async function createClickHouseAccount(options: HttpOptions, admin: Credentials): Promise<void> {
  const clickhouse = openHttp({ ...options, ...admin }, 'default');
  try {
    for (const statement of accountStatements(clickhouse.layout, options)) {
      await clickhouse.command('create_account', statement);
    }
  } finally {
    await clickhouse.close();
  }
}
