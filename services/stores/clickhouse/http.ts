import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { AnalyticsQuery } from '../../advertising/analytics-store.js';
import { checkedIdentifier, EMPTY_SQL, identifier, joinSql, sql } from '../../shared/sql.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { ClickHouse, ClickHouseServer, HttpOptions, Layout } from './client.js';
import { replicas } from './replicas.js';
import { checkBound, settle, toResult } from './result.js';
import {
  DEFAULT_TIMEOUT_MS,
  GROUPED_INSERT_SETTINGS,
  HTTP_READ_SETTINGS,
  httpSettings,
  tokenSettings,
} from './settings.js';

const FORMATS = { TabSeparated: identifier('TabSeparated'), JSONEachRow: identifier('JSONEachRow') };
const CONNECT_TIMEOUT_MS = 1500;
/** Milliseconds by which the timeout of the server is shorter than the timeout of the client, so that the server reports the reason. */
const ANSWER_MARGIN_MS = 2000;
const CONNECTIONS = 32;
/** Milliseconds after which the client closes an idle connection, below the 10 s of a server. */
const IDLE_CONNECTION_MS = 5000;
const PING_TIMEOUT_MS = 800;

const layoutOf = ({ database, cluster }: HttpOptions): Layout => ({
  tables: `${database}_tables`,
  views: database,
  copies: `${database}_copies`,
  isReplicated: cluster !== null,
});

/**
 * Opens a lazy connection: a statement fails while the server is down, and succeeds once the server is back. Table names without a database
 * refer to `defaultDatabase`; the database 'default' exists before our own database does.
 */
export function openHttp(options: HttpOptions, defaultDatabase?: string): ClickHouse {
  const servers = openServers(options, defaultDatabase);
  const [only] = servers;
  return options.cluster === null && only ? only : replicas(servers);
}

/** Opens each server separately. */
export const openServers = (options: HttpOptions, defaultDatabase?: string): ClickHouseServer[] =>
  options.urls.map((url) => openServer(url, options, defaultDatabase));

function openServer(url: string, options: HttpOptions, defaultDatabase?: string): ClickHouseServer {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const layout = layoutOf(options);
  const connect = (database: string, requestTimeoutMs = timeoutMs + ANSWER_MARGIN_MS) =>
    createClient({
      url,
      username: options.username,
      password: options.password,
      database,
      request_timeout: requestTimeoutMs,
      http_agent: agentFor(url),
      keep_alive: { idle_socket_ttl: IDLE_CONNECTION_MS, eagerly_destroy_stale_sockets: true },
      use_multipart_params_auto: true,
      log: { level: ClickHouseLogLevel.OFF },
    });
  const client = connect(defaultDatabase ?? layout.tables);
  // Pings have their own connections, because statements may occupy all others.
  const pings = connect('default', PING_TIMEOUT_MS);
  const settings = (name: string) => httpSettings(name, timeoutMs, layout.isReplicated);
  let asking: Promise<boolean> | undefined;
  let closing = false;
  const guard = () => {
    if (closing) throw new StoreUnavailableError('analytics');
  };

  const server: ClickHouseServer = {
    url,
    layout,
    engine: null,
    get servers() {
      return [server];
    },
    pauseInserts: null,

    answers() {
      asking ??= pings
        .ping()
        .then(({ success }) => success)
        .finally(() => {
          asking = undefined;
        });
      return asking;
    },

    /** A restarted server resets kept-alive connections, so a read is repeated. */
    async query<Row>(query: AnalyticsQuery, signal?: AbortSignal) {
      guard();
      checkBound(query);
      signal?.throwIfAborted();
      const read = async () => {
        const result = await client.query({
          query: query.sql.text,
          query_params: query.params,
          format: 'JSONCompact',
          abort_signal: signal,
          clickhouse_settings: { ...settings(query.name), ...HTTP_READ_SETTINGS },
        });
        return toResult<Row>(await result.json<unknown[]>(), signal);
      };
      const running = read().catch((error: unknown) => {
        if (isReset(error) && !signal?.aborted) return read();
        throw error;
      });
      return settle(running, signal);
    },

    async insert(name, { database, table, columns, text, format = 'TabSeparated' }, { grouped, token } = {}) {
      guard();
      const run = async () => {
        const named =
          columns.length > 0 ? sql` (${joinSql(columns.map(checkedIdentifier), ', ')})` : EMPTY_SQL;
        const place = database === undefined ? EMPTY_SQL : sql`${checkedIdentifier(database)}.`;
        const rows = FORMATS[format];
        const { stream } = await client.exec({
          query: sql`INSERT INTO ${place}${checkedIdentifier(table)}${named} FORMAT ${rows}`.text,
          values: Readable.from([text], { objectMode: false }),
          clickhouse_settings: {
            ...settings(name),
            ...(grouped ? GROUPED_INSERT_SETTINGS : tokenSettings(token)),
          },
        });
        // Reads the response to its end, so that the connection can be used again.
        await finished(stream.resume());
      };
      await settle(run());
    },

    async command(name, statement) {
      guard();
      await settle(client.command({ query: statement.text, clickhouse_settings: settings(name) }));
    },

    async createDatabase() {
      guard();
      const outside = connect('default');
      try {
        await settle(createMissing(outside, layout.tables));
      } finally {
        await outside.close();
      }
    },

    async close() {
      closing = true;
      await Promise.all([client.close(), pings.close()]);
    },
  };
  return server;
}

/** Checks for the database first, because a user may be allowed to use a database but not to create one. */
async function createMissing(client: ReturnType<typeof createClient>, database: string): Promise<void> {
  const found = await client.query({
    query: sql`SELECT 1 FROM system.databases WHERE name = {database:String}`.text,
    query_params: { database },
    format: 'JSONCompact',
  });
  if ((await found.json<unknown>()).data.length > 0) return;
  await client.command({ query: sql`CREATE DATABASE IF NOT EXISTS ${checkedIdentifier(database)}`.text });
}

const isReset = (error: unknown) =>
  ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');

/** An agent with a connect timeout, which detects a lost host; node:http has no such timeout. */
function agentFor(url: string): HttpAgent {
  const options = { keepAlive: true, maxSockets: CONNECTIONS };
  const secure = url.startsWith('https:');
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const withTimer = agent as unknown as { createConnection(...args: unknown[]): Socket };
  const create = withTimer.createConnection;
  withTimer.createConnection = function (this: unknown, ...args) {
    const socket = create.apply(this, args);
    const late = () =>
      socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }));
    const timer = setTimeout(late, CONNECT_TIMEOUT_MS);
    const done = () => clearTimeout(timer);
    socket.once(secure ? 'secureConnect' : 'connect', done).once('close', done);
    return socket;
  };
  return agent;
}
