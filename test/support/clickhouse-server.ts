/**
 * ClickHouse over HTTP for tests: the embedded engine behind the SQL endpoint, which permits every statement. It replaces a ClickHouse
 * server, which these tests cannot fetch.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureDir, packageRoot } from '../../services/shared/fs.js';
import { textLiteral } from '../../services/shared/sql.js';
import type { Authenticate } from '../../services/sql-endpoint/authenticate.js';
import type { Body } from '../../services/sql-endpoint/body.js';
import { CODE, SqlError } from '../../services/sql-endpoint/errors.js';
import { FairMutex } from '../../services/sql-endpoint/fair-mutex.js';
import { canonical, checking } from '../../services/sql-endpoint/parser.js';
import type { StatementRequest } from '../../services/sql-endpoint/request.js';
import { type ServedSql, serveSql } from '../../services/sql-endpoint/server.js';
import { Runner, type Statement } from '../../services/sql-endpoint/statement.js';
import { ConnectionPool } from '../../services/stores/clickhouse/connection-pool.js';
import { type Engine, openEngine } from '../../services/stores/clickhouse/engine.js';
import { rawSql } from './raw-sql.js';

export interface ClickHouseServer {
  url: string;
  /** The number of statements that have started. */
  started(): number;
  /** The number of statements that run, the parsing of one included. */
  running(): number;
  close(): Promise<void>;
}

/** Larger bodies are rejected. */
const BODY_LIMIT = 256 * 1024 * 1024;
/** One less than the threads of Node.js that run the statements. */
export const CONCURRENCY = 3;

/** A replica of a cluster `main`. The embedded engine registers its tables, and accepts no writes into them. */
export interface ReplicaOptions {
  name: string;
  /** `host:port` of ZooKeeper. */
  coordinator: string;
  /** Addresses of the cluster. */
  cluster: readonly string[];
}

interface ServerOptions {
  replica?: ReplicaOptions;
  port?: number;
  password?: string;
  /** Runs one statement at a time, each until this deadline. */
  deadlineMs?: number;
}

/** Serves a folder, created if missing, to the user `default`. Only one process may have it. */
export async function startClickHouseServer(
  folder: string,
  options: ServerOptions = {},
): Promise<ClickHouseServer> {
  const engine = await openEngine(folder, { configFile: configOf(folder, options.replica) });
  const bodies = mkdtempSync(join(tmpdir(), 'reachline-bodies-'));
  const endpoint = await startUnrestrictedEndpoint(engine, bodies, options);
  return {
    url: endpoint.url,
    started: endpoint.started,
    running: endpoint.running,
    async close() {
      await endpoint.close();
      while (endpoint.running() > 0) await pause(50);
      await engine.close();
      rmSync(bodies, { recursive: true, force: true });
    },
  };
}

/** The configuration of the embedded engine, with a folder for `BACKUP … TO File`. */
function configOf(folder: string, replica: ReplicaOptions | undefined): string {
  const embedded = readFileSync(join(packageRoot, 'mappings/clickhouse/embedded.xml'), 'utf8');
  const backups = `<backups><allowed_path>${folder}/backups/</allowed_path></backups>`;
  const replication = replica ? configOfReplica(replica) : '';
  const file = join(folder, 'config.xml');
  ensureDir(folder);
  const users = join(packageRoot, 'mappings/clickhouse/embedded-users.xml');
  const config = embedded
    .replace('embedded-users.xml', users)
    .replace('</clickhouse>', `${backups}${replication}</clickhouse>`);
  writeFileSync(file, config);
  return file;
}

function configOfReplica({ name, coordinator, cluster }: ReplicaOptions): string {
  const [host, port] = coordinator.split(':');
  const servers = cluster.map((address) => {
    const { hostname, port } = new URL(address);
    return `<replica><host>${hostname}</host><port>${port}</port></replica>`;
  });
  return `<zookeeper><node><host>${host}</host><port>${port}</port></node><operation_timeout_ms>1000</operation_timeout_ms></zookeeper>
<macros><shard>1</shard><replica>${name}</replica></macros>
<remote_servers><main><shard>${servers.join('')}</shard></main></remote_servers>
<interserver_http_host>127.0.0.1</interserver_http_host><interserver_http_port>9009</interserver_http_port>`;
}

/** An endpoint that permits every statement. Bodies of inserts are files in `bodies` while they run. */
export async function startUnrestrictedEndpoint(
  engine: Engine,
  bodies: string,
  { port = 0, password = '', deadlineMs }: ServerOptions = {},
): Promise<ServedSql & Pick<ClickHouseServer, 'started'>> {
  let count = 0;
  let started = 0;
  const runner = new Runner(engine);
  const limit = createLimit(deadlineMs);
  const endpoint = await serveSql(runner, port, {
    bodyLimit: BODY_LIMIT,
    authenticate: signsIn(password),
    execute: (request, body, send, disconnected) =>
      limit(async (signal) => {
        const file = join(bodies, String(++count));
        try {
          const { statement, isRead, format } = await permitAll(request, body, runner, file);
          started++;
          await send({ ...statement, format }, await runner.run(statement, isRead ? signal : undefined));
        } finally {
          rmSync(file, { force: true });
        }
      }, disconnected),
  });
  return { ...endpoint, started: () => started };
}

/** Replaces the organization of a key: this endpoint filters nothing. */
const EVERY_ORGANIZATION = '';

/** Signs in as the user `default` of a server, with its password. */
const signsIn =
  (expected: string): Authenticate =>
  async ({ user, password }) => {
    if (user === 'default' && (password ?? '') === expected) return EVERY_ORGANIZATION;
    const code = password === undefined ? CODE.REQUIRED_PASSWORD : CODE.AUTHENTICATION_FAILED;
    throw new SqlError(code, `${user}: Authentication failed`);
  };

type Limit = (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>;

function createLimit(deadlineMs: number | undefined): Limit {
  if (deadlineMs !== undefined) {
    const mutex = new FairMutex({ deadlineMs, refuseMs: 0 });
    return (work, signal) => mutex.runExclusive(EVERY_ORGANIZATION, work, signal);
  }
  const slots = new ConnectionPool(CONCURRENCY, () => ({ close: async () => undefined }));
  return (work, signal) => slots.use(() => work(signal), signal);
}

interface Permitted {
  statement: Statement;
  /** Format of the response, as the statement or the request names it. */
  format: string;
  /** Whether the statement is killed when its client leaves. */
  isRead: boolean;
}

/** The beginning of an insert whose rows follow it in the body. */
const INLINE_INSERT = /^\s*INSERT\s+INTO\s[^;]*?\sFORMAT\s+(?!Values\b)\w+[ \t]*\r?(\n|$)/i;
const FORMATTED_INSERT =
  /^(?<into>INSERT INTO (?:(?! SELECT | FORMAT ).)+?)(?<settings> SETTINGS .*?)? FORMAT (?<format>\w+)$/s;
/** An insert that computes its rows from the rows of the body. The embedded engine reads nothing from `input`. */
const INPUT_INSERT =
  /^(?<into>INSERT INTO .+ SELECT .+ FROM )input\((?<structure>'.+')\) FORMAT (?<format>\w+)$/s;
const HEAD = 64 * 1024;

/** Permits any single statement. The engine reads the rows of an insert from a file, in every format it knows. */
async function permitAll(
  request: StatementRequest,
  body: Body,
  runner: Runner,
  file: string,
): Promise<Permitted> {
  const { head, rows } = split(request.query, body.data);
  const formatted = await checking(head, {}, runner, (run) => canonical(head, run));
  const insert = rows && (FORMATTED_INSERT.exec(formatted) ?? INPUT_INSERT.exec(formatted))?.groups;
  const common = {
    role: 'owner' as const,
    format: request.format,
    database: request.database,
    params: request.params,
  };
  const settings = request.settings;
  if (!insert) {
    const sql = rows ? `${head}\n${rows.toString('utf8')}` : head;
    return {
      statement: { ...common, settings, sql: rawSql(sql) },
      format: /.* FORMAT `?(\w+)`?/s.exec(formatted)?.[1] ?? request.format,
      isRead: /^(SELECT|WITH)\b/.test(formatted),
    };
  }
  writeFileSync(file, rows);
  const { into, settings: own = '', format = request.format, structure } = insert;
  const source = structure
    ? `file(${textLiteral(file).text}, ${format}, ${structure})`
    : ` FROM INFILE ${textLiteral(file).text}${own} FORMAT ${format}`;
  const sql = rows.length === 0 ? 'SELECT 1 WHERE 0' : `${into}${source}`;
  return { statement: { ...common, settings, sql: rawSql(sql) }, format, isRead: false };
}

function split(query: string, data: Buffer): { head: string; rows: Buffer | undefined } {
  if (query !== '') return { head: query, rows: data.length > 0 || isInsert(query) ? data : undefined };
  // Every byte is one character, so that positions in the text are positions in the body.
  const inline = INLINE_INSERT.exec(data.subarray(0, HEAD).toString('latin1'))?.[0];
  if (inline === undefined) return { head: data.toString('utf8'), rows: undefined };
  return { head: data.subarray(0, inline.length).toString('utf8'), rows: data.subarray(inline.length) };
}

const isInsert = (query: string) => /^\s*INSERT\b.*\sFORMAT\s+\w+\s*$/is.test(query);
