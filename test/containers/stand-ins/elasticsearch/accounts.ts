/**
 * Before Elasticsearch in its container: keeps roles and users that are put into it in files, which it reads and enforces as well. This
 * distribution lacks an analyzer of the index in which it would keep them.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const PORT = 9200;
const SERVER = 'http://127.0.0.1:9201';
const ROLES_FILE = 'config/roles.yml';
/** Longer than Elasticsearch takes to read its files again. */
const RELOAD_TIMEOUT_MS = 60_000;

const ACCOUNT = /^\/_security\/(role|user)\/([\w.-]+)$/;

createServer((request, response) => {
  handle(request, response).catch((error: Error) => {
    console.error(error);
    response.destroy();
  });
}).listen(PORT, '0.0.0.0');

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, kind, name] = ACCOUNT.exec(request.url ?? '') ?? [];
  const authorization = request.headers.authorization ?? '';
  if (name === undefined || request.method !== 'PUT' || (await userOf(authorization)) !== 'elastic') {
    return pass(request, response);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
  if (kind === 'role') putRole(name, body);
  else await putUser(name, body as unknown as { password: string; roles: string[] });
  response.writeHead(200, { 'Content-Type': 'application/json', 'X-Elastic-Product': 'Elasticsearch' });
  response.end('{"created":true}');
}

/** JSON is YAML. */
function putRole(name: string, { cluster, indices }: Record<string, unknown>): void {
  const others = readFileSync(ROLES_FILE, 'utf8').replaceAll(new RegExp(`^${name}:.*\n`, 'gm'), '');
  writeFileSync(ROLES_FILE, `${others.trimEnd()}\n${name}: ${JSON.stringify({ cluster, indices })}\n`);
}

async function putUser(name: string, { password, roles }: { password: string; roles: string[] }) {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  // Each command starts a Java virtual machine, which may take longer than a client waits.
  if ((await userOf(authorization)) === name) return;
  const users = (...args: string[]) => promisify(execFile)('bin/elasticsearch-users', args);
  const made = ['useradd', name, '-p', password, '-r', roles.join(',')];
  await users(...made).catch(() => users('passwd', name, '-p', password));
  for (const until = Date.now() + RELOAD_TIMEOUT_MS; Date.now() < until; await pause(200)) {
    if ((await userOf(authorization)) === name) return;
  }
  throw new Error(`Elasticsearch does not know ${name}`);
}

async function userOf(authorization: string): Promise<string | undefined> {
  const response = await fetch(`${SERVER}/_security/_authenticate`, { headers: { authorization } });
  return response.ok ? ((await response.json()) as { username: string }).username : undefined;
}

function pass(request: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = request;
  const upstream = httpRequest(new URL(request.url ?? '/', SERVER), { method, headers });
  upstream.on('error', () => response.destroy());
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  // A client that leaves cancels its search.
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}
