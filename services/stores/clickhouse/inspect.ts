import { skewOf } from '../../shared/clock-comparison.js';
import { type Sql, sql } from '../../shared/sql.js';
import type { ClickHouseServer, HttpOptions } from './client.js';
import { openServers } from './http.js';
import { missingMigrations } from './migrations/migrate.js';
import { findDamagedParts } from './parts.js';
import { sqlCopy } from './sql-copy.js';

export const TIME_QUERY = sql`SELECT toUnixTimestamp64Milli(now64(3)) AS ms`;

/** State of a server; inspecting changes nothing. */
export interface ServerReport {
  version: string;
  /** Milliseconds by which this machine is ahead of the server. */
  skewMs: number;
  /** Migrations that have not been applied. */
  missing: string[];
  /** Time up to which SQL shows contacts and audiences, in milliseconds since the epoch; null before the first copy. */
  followedAt: number | null;
  /** What the server knows about the other replicas; null for a single server. */
  replication: Replication | null;
}

interface Replication {
  /** Servers of the cluster in its configuration. */
  servers: number;
  shards: number;
  /** Number of replicas of the table that has the fewest replicas; 0 if there is no table. */
  total: number;
  active: number;
  /** Tables that take no writes. */
  read_only: number;
  delay_seconds: number;
}

/**
 * State of each server by its address, or the error that opening the store would throw: `StoreUnavailableError`, `StoreTimeoutError` or
 * `UnreleasedVersionError`.
 */
export async function inspectClickHouse(
  options: HttpOptions,
): Promise<{ url: string; report: ServerReport | Error }[]> {
  const servers = openServers(options, 'default');
  try {
    return await Promise.all(
      servers.map(async (server) => ({
        url: server.url,
        report: await inspectServer(server, options.cluster).catch((error: Error) => error),
      })),
    );
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

async function inspectServer(server: ClickHouseServer, cluster: string | null): Promise<ServerReport> {
  const one = async <Row>(statement: Sql, params = {}) =>
    (await server.query<Row>({ name: 'inspect', sql: statement, params })).rows[0] as Row;
  const read = async () => Number((await one<{ ms: string }>(TIME_QUERY)).ms);
  const skewMs = await skewOf(read);
  const { version } = await one<{ version: string }>(sql`SELECT version() AS version`);
  const missing = (await missingMigrations(server)).map(({ name }) => name);
  const replication =
    cluster === null
      ? null
      : await one<Replication>(
          sql`SELECT (SELECT count() FROM system.clusters WHERE cluster = {cluster:String}) AS servers,
  (SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = {cluster:String}) AS shards,
  min(total_replicas) AS total, min(active_replicas) AS active, countIf(is_readonly) AS read_only, max(absolute_delay) AS delay_seconds
FROM system.replicas WHERE database = {database:String}`,
          { cluster, database: server.layout.tables },
        );
  return { version, missing, followedAt: await followedAt(server), replication, skewMs };
}

/** Null too if the table is missing. */
const followedAt = (server: ClickHouseServer): Promise<number | null> =>
  sqlCopy(server)
    .readPosition()
    .then(
      (position) => position?.followedAt ?? null,
      () => null,
    );

/** Parts of the servers' tables that are damaged. Throws `StoreUnavailableError` and `StoreTimeoutError`. */
export async function inspectParts(options: HttpOptions): Promise<string[]> {
  const servers = openServers(options);
  try {
    const damaged = await Promise.all(
      servers.map(async (server) => {
        const parts = await findDamagedParts(server);
        return servers.length === 1 ? parts : parts.map((part) => `${server.url} ${part}`);
      }),
    );
    return damaged.flat();
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}
