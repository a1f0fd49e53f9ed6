/**
 * An engine whose user has only the grants of Reachline's account, told by the configuration of users: it runs every migration,
 * writes to every table, reads every view, and then tries what it must not do. Run by the test beside it, since a process has
 * one engine. Prints JSON.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';
import { accountGrants, accountStatements } from '../../../services/stores/clickhouse/account.js';
import { allMigrations } from '../../../services/stores/clickhouse/migrations/migrate.js';
import { render } from '../../../services/stores/clickhouse/migrations/render.js';

const folder = process.argv[2] as string;
const layout = {
  tables: 'reachline_tables',
  views: 'reachline',
  copies: 'reachline_copies',
  isReplicated: false,
};
const grants = accountGrants(layout).map((grant) => `<query>GRANT ${grant.text}</query>`);
const user = `<password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota><grants>${grants.join('')}</grants>`;
writeFileSync(
  join(folder, 'users.xml'),
  `<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users><default>${user}</default></users></clickhouse>`,
);
const config = join(folder, 'config.xml');
writeFileSync(config, `<clickhouse><users_config>${join(folder, 'users.xml')}</users_config></clickhouse>`);

const session = new Session(join(folder, 'data'), { connectionArgs: [`--config-file=${config}`] });
/** Null, or the engine's error. */
function attempt(sql: string): string | null {
  try {
    session.query(sql, 'TSV');
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const allowed = [
  `CREATE DATABASE IF NOT EXISTS ${layout.tables}`,
  `USE ${layout.tables}`,
  'CREATE TABLE IF NOT EXISTS schema_migrations (name String, checksum String) ENGINE = MergeTree ORDER BY name',
  "INSERT INTO schema_migrations VALUES ('a', 'b')",
  ...allMigrations().flatMap(({ statements }) => render(statements, layout).map(({ text }) => text)),
  "INSERT INTO deliveries (organization_id, date, campaign_id, creative_id) VALUES ('o', '2026-01-01', 'c', 'v')",
  "INSERT INTO companies (organization_id, id) VALUES ('o', 'k')",
  'SELECT * FROM creative_deliveries FINAL',
  ...[
    ...['campaigns', 'creatives', 'companies', 'campaign_daily', 'creative_daily', 'company_daily'],
    ...['currency_rates', 'contacts', 'audiences', 'memberships', 'website_visits'],
  ].map((view) => `SELECT * FROM ${layout.views}.${view}`),
  'SELECT name FROM system.databases',
  'SELECT name FROM system.parts WHERE NOT active',
  'SELECT name, comment FROM system.tables',
  `CREATE DATABASE IF NOT EXISTS ${layout.copies}`,
  `CREATE TABLE ${layout.copies}.contacts_next_a AS contacts`,
  `INSERT INTO ${layout.copies}.contacts_next_a (organization_id, contact_id) VALUES ('o', 'c')`,
  `EXCHANGE TABLES contacts AND ${layout.copies}.contacts_next_a`,
  `DROP TABLE IF EXISTS ${layout.copies}.contacts_next_a SYNC`,
  'ALTER TABLE website_visits DROP PARTITION 202601',
  ...accountStatements(layout, { username: 'reachline', password: "it's" }).map(
    ({ text }) => `EXPLAIN AST ${text}`,
  ),
  ...accountStatements({ ...layout, isReplicated: true }, { username: 'reachline', password: 'x' }).map(
    ({ text }) => `EXPLAIN AST ${text}`,
  ),
];
const denied = [
  'CREATE DATABASE other',
  'CREATE TABLE default.t (a Int8) ENGINE = Memory',
  'CREATE USER other',
  "ALTER USER default IDENTIFIED BY 'x'",
  `GRANT SELECT ON ${layout.tables}.* TO default`,
  'SELECT * FROM system.users',
  "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
  "SELECT * FROM file('/etc/passwd', 'CSV', 'a String')",
  `DROP DATABASE ${layout.tables}`,
  'SYSTEM SHUTDOWN',
];
process.stdout.write(
  JSON.stringify({
    failed: allowed.map((sql) => [sql, attempt(sql)]).filter(([, error]) => error !== null),
    denied: denied.map((sql) => [sql, attempt(sql)]),
    tried: allowed.length,
  }),
);
