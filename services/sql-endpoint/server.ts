/** ClickHouse's HTTP protocol over the embedded engine: https://clickhouse.com/docs/interfaces/http */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withTimeout } from '../shared/async.js';
import type { Engine, EngineResult } from '../stores/clickhouse/engine.js';
import { ANALYST_SECONDS } from '../stores/clickhouse/settings.js';
import { type Authenticate, createAuthenticate, type Keys } from './authenticate.js';
import { readBody } from './body.js';
import { CODE, SqlError, toException } from './errors.js';
import { FairMutex, type OnEndless } from './fair-mutex.js';
import { readOnly, VIEWS } from './read-only.js';
import { readForm, readRequest } from './request.js';
import { compressed, contentType, encodeBlocks, sendException, summaryOf } from './response.js';
import { type Execute, readRows, type SqlReader } from './sql-reader.js';
import { Runner, type Statement, timezoneOf } from './statement.js';
import { UnreadAnswers, type UnreadAnswersOptions } from './unread-answers.js';
import { secureViews } from './views.js';

export interface SqlEndpointOptions {
  engine: Engine;
  /** Port of the endpoint; 0 means any free port. */
  port: number;
  /** Store that checks API keys. */
  records: Keys;
  onEndless?: OnEndless;
}

export interface ServedSql {
  url: string;
  /** Cancels running statements, waits for most of them, and leaves the engine open. */
  close(): Promise<void>;
  /** The number of statements that the engine has not ended. */
  running(): number;
}

/** A SQL endpoint that also serves this process directly. */
export type SqlEndpoint = ServedSql & SqlReader;

/** Handles the requests of the protocol. */
export interface SqlService {
  /** Maximum bytes of a body after decoding. */
  bodyLimit: number;
  authenticate: Authenticate;
  execute: Execute;
  unread?: UnreadAnswersOptions;
}

/** Deadline of a statement that the engine cannot interrupt: 5 s after the time limit of a statement. */
const DEADLINE_MS = (ANALYST_SECONDS + 5) * 1000;
const BODY_LIMIT = 1024 * 1024;
/** Milliseconds that `close` waits for statements that were cancelled. */
const CLOSE_TIMEOUT_MS = 1500;
const KEEP_ALIVE_MS = 30_000;
/** Milliseconds that a client may be silent in the middle of its request. */
const RECEIVE_TIMEOUT_MS = 30_000;
/** Maximum bytes of the URL and headers, as in ClickHouse's server. */
const MAX_HEADER_BYTES = 1024 * 1024;
/** Maximum connections. Each connection may hold a body, headers and a small response. */
const MAX_CONNECTIONS = 256;

/**
 * Serves the tables and views that analysts may read, one statement at a time, because the gateway's own statements run on the same few
 * threads. Throws the errors of `server.listen`, such as EADDRINUSE.
 */
export async function startSqlEndpoint({
  engine,
  port,
  records,
  onEndless,
}: SqlEndpointOptions): Promise<SqlEndpoint> {
  const runner = new Runner(engine);
  await secureViews(runner, VIEWS);
  const authorize = await readOnly(runner);
  const mutex = new FairMutex({ deadlineMs: DEADLINE_MS, ...(onEndless && { onEndless }) });
  const execute: Execute = (request, body, send, disconnected) =>
    mutex.runExclusive(
      request.organizationId,
      async (signal) => {
        const statement = await authorize(request, body, signal);
        await send(statement, await runner.run(statement, signal));
      },
      disconnected,
    );
  const authenticate = createAuthenticate(records);
  const served = await serveSql(runner, port, {
    bodyLimit: BODY_LIMIT,
    authenticate,
    execute,
  });
  return { ...served, query: (query, signal) => readRows(execute, query, signal) };
}

/** Starts a server of the protocol on 127.0.0.1. */
export async function serveSql(runner: Runner, port: number, service: SqlService): Promise<ServedSql> {
  const running = new Set<Promise<void>>();
  const unread = new UnreadAnswers(service.unread);
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => {
      const handled = handle(request, response, service, unread).catch(() => void response.destroy());
      running.add(handled);
      void handled.finally(() => running.delete(handled));
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, port);
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await withTimeout(CLOSE_TIMEOUT_MS, async () => {
        await Promise.all([closed, ...running]);
        await runner.idle();
      }).catch(() => undefined);
    },
    running: () => runner.running,
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { authenticate, bodyLimit, execute }: SqlService,
  unread: UnreadAnswers,
): Promise<void> {
  const disconnected = new AbortController();
  response.on('close', () => disconnected.abort());
  response.setHeader('X-ClickHouse-Server-Display-Name', 'reachline');
  let compressBlocks = false;
  try {
    const url = urlOf(request.url ?? '/');
    if (url.pathname === '/ping' || url.pathname === '/replicas_status') return sendOk(response);
    if (url.pathname !== '/') return sendNotFound(response, url.pathname);
    if (request.method === 'GET' && !url.searchParams.has('query')) return sendOk(response);
    if (request.method !== 'GET' && request.method !== 'POST') return sendWrongMethod(response);
    const asked = readRequest(request, url);
    compressBlocks = asked.compressBlocks;
    const queryId = asked.queryId ?? randomUUID();
    response.setHeader('X-ClickHouse-Query-Id', queryId);
    const sqlRequest = { ...asked, organizationId: await authenticate(asked) };
    request.setTimeout(RECEIVE_TIMEOUT_MS, () => request.destroy());
    let body = await readBody(request, bodyLimit);
    request.setTimeout(0);
    const type = request.headers['content-type'];
    if (type?.startsWith('multipart/form-data')) {
      await readForm(sqlRequest, type, body.data);
      body = { data: Buffer.alloc(0), encoding: undefined };
    }
    let answer: Uint8Array | undefined;
    const send = async (statement: Statement, result: EngineResult) => {
      const { format } = statement;
      const { bytes, encoding } = await compressed(
        await encodeBlocks(result.bytes(), format, sqlRequest),
        sqlRequest.compressResponse ? sqlRequest.acceptEncoding : undefined,
      );
      unread.hold(sqlRequest.organizationId, bytes.length, response);
      const summary = summaryOf(result);
      response.setHeader('Content-Type', contentType(format));
      response.setHeader('X-ClickHouse-Format', format);
      response.setHeader('X-ClickHouse-Timezone', timezoneOf(statement));
      response.setHeader('X-ClickHouse-Summary', summary);
      if (sqlRequest.sendProgress) response.setHeader('X-ClickHouse-Progress', summary);
      if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
      response.setHeader('Content-Length', bytes.length);
      answer = bytes;
    };
    await execute(sqlRequest, body, send, disconnected.signal);
    // Sends the response after the statement has ended, so that other statements do not wait for this client.
    if (answer) await unread.send(response, answer);
  } catch (error) {
    if (disconnected.signal.aborted) return;
    // Closes the connection, because the unread rest of the body would be parsed as the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    await sendException(response, toException(error), compressBlocks);
  }
}

/** Throws a `SqlError` for a target that is not a URL. */
function urlOf(target: string): URL {
  // A path may begin with two slashes, which would be parsed as a host.
  const address = target.startsWith('/') ? `http://localhost${target}` : target;
  if (URL.canParse(address, 'http://localhost')) return new URL(address, 'http://localhost');
  throw new SqlError(CODE.BAD_ARGUMENTS, 'The target of the request is no URL');
}

function sendOk(response: ServerResponse): void {
  response.setHeader('Content-Type', 'text/html; charset=UTF-8');
  response.end('Ok.\n');
}

function sendNotFound(response: ServerResponse, path: string): void {
  response.statusCode = 404;
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.end(`There is no handle ${path}\nUse / or /ping for health checks.\n`);
}

function sendWrongMethod(response: ServerResponse): void {
  response.statusCode = 405;
  response.setHeader('Allow', 'GET, POST');
  response.end();
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}
