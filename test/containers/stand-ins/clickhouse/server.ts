/**
 * ClickHouse in a container, as far as the embedded engine goes: its HTTP protocol on port 8123, data in /var/lib/clickhouse, and
 * accounts, which the engine lacks. Statements about access change passwords and otherwise nothing: no grant is enforced.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { startClickHouseServer } from '../../../support/clickhouse-server.js';

const FOLDER = '/var/lib/clickhouse';
const ACCOUNTS_FILE = `${FOLDER}/accounts.json`;
const PORT = 8123;
/** Statements about access are shorter than this. */
const STATEMENT_BYTES = 64 * 1024;
const ACCESS =
  /^(?:\s+|--.*\n)*(?:(?:CREATE|ALTER|DROP)\s+(?:USER|ROLE|ROW\s+POLICY|QUOTA|SETTINGS\s+PROFILE)|GRANT|REVOKE)\b/i;
const IDENTIFIED = /\bUSER\s+(?:IF NOT EXISTS\s+)?`([^`]+)`.*\bsha256_hash BY '([0-9a-f]{64})'/is;
/** ClickHouse's error codes. */
const ACCESS_DENIED = 497;
const AUTHENTICATION_FAILED = 516;

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

const admin = process.env.CLICKHOUSE_USER ?? 'default';
/** SHA-256 of the password of each account. */
const accounts = new Map<string, string>(readAccounts());
accounts.set(admin, hashOf(process.env.CLICKHOUSE_PASSWORD ?? ''));

const engine = await startClickHouseServer(`${FOLDER}/data`);
const server = createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
});
// As ClickHouse's own default.
server.keepAliveTimeout = 10_000;
server.listen(PORT, '0.0.0.0');
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void engine.close().then(() => process.exit(0));
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', engine.url);
  if (url.pathname === '/ping') return pass(request, response);
  const { user, password } = credentials(request, url);
  if (accounts.get(user) !== hashOf(password)) {
    return fail(response, 403, AUTHENTICATION_FAILED, `${user}: Authentication failed`);
  }
  const body = await readHead(request);
  const statement = `${url.searchParams.get('query') ?? ''}${body.toString('utf8')}`;
  if (!ACCESS.test(statement)) return pass(request, response, body);
  if (user !== admin) return fail(response, 403, ACCESS_DENIED, `${user}: Not enough privileges`);
  const [, name, hash] = IDENTIFIED.exec(statement) ?? [];
  if (name && hash) {
    accounts.set(name, hash);
    writeFileSync(`${ACCOUNTS_FILE}.new`, JSON.stringify([...accounts]));
    renameSync(`${ACCOUNTS_FILE}.new`, ACCOUNTS_FILE);
  }
  response.writeHead(200, { 'Content-Type': 'text/plain' }).end();
}

function readAccounts(): [string, string][] {
  try {
    return JSON.parse(readFileSync(ACCOUNTS_FILE, 'utf8')) as [string, string][];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function credentials({ headers }: IncomingMessage, url: URL): { user: string; password: string } {
  const [, basic] = /^Basic (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    return { user: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  return {
    user: String(headers['x-clickhouse-user'] ?? url.searchParams.get('user') ?? 'default'),
    password: String(headers['x-clickhouse-key'] ?? url.searchParams.get('password') ?? ''),
  };
}

/** The body, or as much of it as a statement about access may be long. */
async function readHead(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > STATEMENT_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** To the engine, whose only user is `default` without a password. */
function pass(request: IncomingMessage, response: ServerResponse, head?: Buffer): void {
  const { authorization, 'x-clickhouse-user': user, 'x-clickhouse-key': key, ...headers } = request.headers;
  const upstream = httpRequest(new URL(request.url ?? '/', engine.url), { method: request.method, headers });
  upstream.on('error', () => response.destroy());
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  // A client that leaves cancels its query.
  response.on('close', () => upstream.destroy());
  if (head) upstream.write(head);
  if (request.readableEnded) upstream.end();
  else request.pipe(upstream);
}

function fail(response: ServerResponse, status: number, code: number, message: string): void {
  response.writeHead(status, { 'X-ClickHouse-Exception-Code': String(code), Connection: 'close' });
  response.end(`Code: ${code}. DB::Exception: ${message}`);
}
