/** ClickHouse's HTTP protocol over the engine in this process: https://clickhouse.com/docs/interfaces/http */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine } from '../stores/clickhouse/engine.js';
import { type Body, readBody } from './body.js';
import { CODE, SqlError, toException } from './errors.js';
import { readForm, readRequest, type SqlRequest } from './request.js';
import { contentType, sendBytes, sendException, summaryOf } from './response.js';
import { Semaphore } from './semaphore.js';
import { Runner, type Statement, timezoneOf } from './statement.js';

/** Decides what runs for a request; throws a `SqlError` to refuse. Files it made go with `release`. */
export type StatementPolicy = (
  request: SqlRequest,
  body: Body,
  runner: Runner,
) => Promise<PermittedStatement>;

export interface PermittedStatement {
  statement: Statement;
  /** Format of the output, as the statement or the request names it. */
  format: string;
  release?: () => void;
}

export interface SqlEndpointOptions {
  engine: Engine;
  /** 0 for any that is free. */
  port: number;
  password: string;
  policy(runner: Runner): Promise<StatementPolicy>;
  /** Statements that run at the same time; others wait. */
  concurrency: number;
  /** Bytes. */
  bodyLimit: number;
  /** Milliseconds after which a client is answered and the next statement runs, whatever the engine does. */
  deadlineMs?: number;
}

export interface SqlEndpoint {
  url: string;
  /** Ends what is running, and leaves the engine open. False when a statement did not end, which then holds the engine for good. */
  close(): Promise<boolean>;
  /** Statements that the engine has not ended. */
  running(): number;
}

interface RequestDeps extends Pick<SqlEndpointOptions, 'password' | 'bodyLimit'> {
  authorize: StatementPolicy;
  runner: Runner;
  semaphore: Semaphore;
}

const WAITING = 100;
/** Longer than the engine lets a statement run that it can end. */
const DEADLINE_MS = 35_000;
/** How long closing waits for statements that were told to end. */
const CLOSING_MS = 1500;
const KEEP_ALIVE_MS = 30_000;
/** Bytes of an address with its headers: as much as a server takes. */
const ADDRESS_LIMIT = 1024 * 1024;

export async function startSqlEndpoint(options: SqlEndpointOptions): Promise<SqlEndpoint> {
  const runner = new Runner(options.engine);
  const authorize = await options.policy(runner);
  const semaphore = new Semaphore({
    size: options.concurrency,
    line: WAITING,
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
  });
  const running = new Set<Promise<void>>();
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: ADDRESS_LIMIT },
    (request, response) => {
      const answered = answer(request, response, { ...options, authorize, runner, semaphore }).catch(
        () => void response.destroy(),
      );
      running.add(answered);
      void answered.finally(() => running.delete(answered));
    },
  );
  try {
    await listen(server, options.port);
  } catch (error) {
    runner.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      const ended = await within(
        CLOSING_MS,
        Promise.all([closed, ...running]).then(() => runner.idle()),
      );
      void runner.idle().then(() => runner.close());
      return ended;
    },
    running: () => runner.running,
  };
}

/** Whether `work` is done within some milliseconds. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  const done = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return done;
}

/** How long a client may be silent in the middle of its request, unless the setting says otherwise. */
const RECEIVE_SECONDS = 30;

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { password, bodyLimit, authorize, runner, semaphore }: RequestDeps,
): Promise<void> {
  const leaving = new AbortController();
  response.on('close', () => leaving.abort());
  response.setHeader('X-ClickHouse-Server-Display-Name', 'reachline');
  try {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/ping' || url.pathname === '/replicas_status') return sendOk(response);
    if (url.pathname !== '/') return sendNothingHere(response, url.pathname);
    if (request.method === 'GET' && !url.searchParams.has('query')) return sendOk(response);
    if (request.method !== 'GET' && request.method !== 'POST') return sendWrongMethod(response);
    const asked = readRequest(request, url);
    const queryId = asked.queryId ?? randomUUID();
    response.setHeader('X-ClickHouse-Query-Id', queryId);
    authenticate(asked, password);
    request.setTimeout(RECEIVE_SECONDS * 1000, () => request.destroy());
    let body = await readBody(request, bodyLimit);
    request.setTimeout(0);
    const type = request.headers['content-type'];
    if (type?.startsWith('multipart/form-data')) {
      await readForm(asked, type, body.data);
      body = { data: Buffer.alloc(0), encoding: undefined };
    }
    await semaphore.take(async (signal) => {
      const { statement, format, release } = await authorize(asked, body, runner);
      try {
        const result = await runner.run(statement, signal);
        const summary = summaryOf(result, statement.inserts);
        response.setHeader('Content-Type', contentType(format));
        response.setHeader('X-ClickHouse-Format', format);
        response.setHeader('X-ClickHouse-Timezone', timezoneOf(statement));
        response.setHeader('X-ClickHouse-Summary', summary);
        if (asked.sendProgress) response.setHeader('X-ClickHouse-Progress', summary);
        await sendBytes(response, result.bytes(), asked.compressResponse ? asked.acceptEncoding : undefined);
      } finally {
        release?.();
      }
    }, leaving.signal);
  } catch (error) {
    if (leaving.signal.aborted) return;
    // What is left of the body would be taken for the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    sendException(response, toException(error));
  }
}

function authenticate({ user, password }: SqlRequest, expected: string): void {
  if (user === 'default' && password === undefined && expected === '') return;
  if (password === undefined) {
    throw new SqlError(CODE.requiredPassword, `${user}: Password required`);
  }
  if (user !== 'default' || !equal(password, expected)) {
    throw new SqlError(
      CODE.authenticationFailed,
      `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
    );
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));

function sendOk(response: ServerResponse): void {
  response.setHeader('Content-Type', 'text/html; charset=UTF-8');
  response.end('Ok.\n');
}

function sendNothingHere(response: ServerResponse, path: string): void {
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
