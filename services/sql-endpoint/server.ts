/** ClickHouse's HTTP protocol over the engine in this process: https://clickhouse.com/docs/interfaces/http */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine } from '../stores/clickhouse/engine.js';
import { type Authenticate, createAuthenticate, type Keys } from './authenticate.js';
import { readBody } from './body.js';
import { toException } from './errors.js';
import { readOnly, type StatementPolicy, VIEWS } from './read-only.js';
import { createRecordViews, recordSettings } from './record-views.js';
import { RecordSource, type RecordStore } from './records.js';
import { readForm, readRequest } from './request.js';
import { contentType, encodeBlocks, sendBytes, sendException, summaryOf } from './response.js';
import { Semaphore } from './semaphore.js';
import { Runner, timezoneOf } from './statement.js';

export interface SqlEndpointOptions {
  engine: Engine;
  /** 0 for any that is free. */
  port: number;
  password: string;
  /** Checks API keys, and holds contacts, audiences and visits. Without it the endpoint takes the password only. */
  search?: RecordStore & Keys;
  /** What may run; by default what analysts may read, of every organization. */
  policy?(runner: Runner): Promise<StatementPolicy>;
  /** Statements that run at the same time; others wait. 1 by default: the gateway's own run on the same few threads. */
  concurrency?: number;
  /** Bytes; 1 MiB by default. */
  bodyLimit?: number;
  /** Milliseconds after which a client is answered and the next statement runs, whatever the engine does. */
  deadlineMs?: number;
}

export interface SqlEndpoint {
  url: string;
  /** Cancels running statements and leaves the engine open. False when one did not end: it then holds the engine for good. */
  close(): Promise<boolean>;
  /** The number of statements the engine has not ended. */
  running(): number;
}

interface RequestDeps {
  authenticate: Authenticate;
  bodyLimit: number;
  authorize: StatementPolicy;
  records: RecordSource | undefined;
  runner: Runner;
  semaphore: Semaphore;
}

/** Longer than the time limit of a statement that the engine can interrupt. */
const DEADLINE_MS = 35_000;
/** How long `close` waits for statements that were cancelled. */
const CLOSE_TIMEOUT_MS = 1500;
const KEEP_ALIVE_MS = 30_000;
/** How long a client may be silent in the middle of its request. */
const RECEIVE_TIMEOUT_MS = 30_000;
/** Of a URL with the headers, as ClickHouse's server accepts it. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** Listens on 127.0.0.1. Throws what `server.listen` does, such as EADDRINUSE. */
export async function startSqlEndpoint({
  engine,
  port,
  password,
  search,
  policy = readOnly,
  concurrency = 1,
  bodyLimit = 1024 * 1024,
  deadlineMs = DEADLINE_MS,
}: SqlEndpointOptions): Promise<SqlEndpoint> {
  const runner = new Runner(engine);
  if (search) await createRecordViews(runner, VIEWS);
  const authorize = await policy(runner);
  const records = search && new RecordSource(search);
  const semaphore = new Semaphore({ permits: concurrency, deadlineMs });
  const authenticate = createAuthenticate(password, search);
  const deps = { authenticate, bodyLimit, authorize, records, runner, semaphore };
  const running = new Set<Promise<void>>();
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => {
      const handled = handle(request, response, deps).catch(() => void response.destroy());
      running.add(handled);
      void handled.finally(() => running.delete(handled));
    },
  );
  try {
    await listen(server, port);
  } catch (error) {
    runner.close();
    throw error;
  }
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      const ended = await within(
        CLOSE_TIMEOUT_MS,
        Promise.all([closed, ...running]).then(() => runner.idle()),
      );
      void runner.idle().then(() => runner.close());
      return ended;
    },
    running: () => runner.running,
  };
}

/** Whether `work` is done within a number of milliseconds. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  const done = await Promise.race([work.then(() => true), timedOut]);
  clearTimeout(timer);
  return done;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { authenticate, bodyLimit, authorize, records, runner, semaphore }: RequestDeps,
): Promise<void> {
  const disconnected = new AbortController();
  response.on('close', () => disconnected.abort());
  response.setHeader('X-ClickHouse-Server-Display-Name', 'reachline');
  let compressBlocks = false;
  try {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/ping' || url.pathname === '/replicas_status') return sendOk(response);
    if (await records?.send(url.pathname, response)) return;
    if (url.pathname !== '/') return sendNotFound(response, url.pathname);
    if (request.method === 'GET' && !url.searchParams.has('query')) return sendOk(response);
    if (request.method !== 'GET' && request.method !== 'POST') return sendWrongMethod(response);
    const sqlRequest = readRequest(request, url);
    compressBlocks = sqlRequest.compressBlocks;
    const queryId = sqlRequest.queryId ?? randomUUID();
    response.setHeader('X-ClickHouse-Query-Id', queryId);
    sqlRequest.organizationId = await authenticate(sqlRequest);
    request.setTimeout(RECEIVE_TIMEOUT_MS, () => request.destroy());
    let body = await readBody(request, bodyLimit);
    request.setTimeout(0);
    const type = request.headers['content-type'];
    if (type?.startsWith('multipart/form-data')) {
      await readForm(sqlRequest, type, body.data);
      body = { data: Buffer.alloc(0), encoding: undefined };
    }
    await semaphore.run(
      sqlRequest.organizationId,
      async (signal) => {
        const { statement, format, readsRecords, release } = await authorize(sqlRequest, body, runner);
        const ended = new AbortController();
        try {
          const { organizationId } = sqlRequest;
          if (readsRecords && records && organizationId !== null) {
            const path = records.grant(organizationId, AbortSignal.any([signal, ended.signal]));
            const { localPort = 0 } = request.socket;
            Object.assign(statement.settings, recordSettings(`http://127.0.0.1:${localPort}${path}`));
          }
          const result = await runner.run(statement, signal);
          const summary = summaryOf(result, statement.inserts);
          response.setHeader('Content-Type', contentType(format));
          response.setHeader('X-ClickHouse-Format', format);
          response.setHeader('X-ClickHouse-Timezone', timezoneOf(statement));
          response.setHeader('X-ClickHouse-Summary', summary);
          if (sqlRequest.sendProgress) response.setHeader('X-ClickHouse-Progress', summary);
          await sendBytes(
            response,
            await encodeBlocks(result.bytes(), format, sqlRequest),
            sqlRequest.compressResponse ? sqlRequest.acceptEncoding : undefined,
          );
        } finally {
          ended.abort();
          release?.();
        }
      },
      disconnected.signal,
    );
  } catch (error) {
    if (disconnected.signal.aborted) return;
    // The unread rest of the body would be parsed as the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    await sendException(response, toException(error), compressBlocks);
  }
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
