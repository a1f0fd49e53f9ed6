import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROBLEMS, type ProblemCode } from '../../services/http/problems.js';
import { packageRoot } from '../../services/shared/fs.js';
import { freePort } from '../stack/free-port.js';
import { useGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { tempFolder } from '../support/temp-folder.js';

const read = (name: string) => readFileSync(join(packageRoot, 'deploy', name), 'utf8');
const main = read('nginx/nginx.conf');
const locations = read('nginx/locations.conf');
const plain = read('nginx/server.conf');
const tls = read('tls/server.conf');
const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;

describe('The configuration of nginx', () => {
  it('answers problems as the gateways do', () => {
    const problems = [...locations.matchAll(/return (\d+) '(\{"type".*?\})';/g)];
    expect(problems).to.have.lengthOf(4);
    for (const [, returned, text = ''] of problems) {
      const problem = JSON.parse(text) as { code: ProblemCode };
      const [status, title] = PROBLEMS[problem.code];
      const type = `urn:reachline:problem:${problem.code}`;
      expect(problem).to.include({ type, title, status, instance: '$instance' });
      expect(Number(returned)).to.equal(status);
    }
  });

  it('keeps neither bodies nor answers, and gives up connections before the gateways do', () => {
    expect(main).to.match(/^ {4}proxy_request_buffering off;$/m);
    expect(main).to.match(/^ {4}proxy_max_temp_file_size 0;$/m);
    expect(Number(/upstream[^}]*keepalive_timeout (\d+)s;/.exec(main)?.[1])).to.be.below(75);
  });
});

const installed = spawnSync('nginx', ['-v']).status === 0;

/** Tests with a real nginx; `apt-get install nginx-light` installs it. */
describe('nginx', function () {
  this.timeout(30_000);
  if (!installed) {
    it.skip('answers as configured: nginx is not installed');
    return;
  }

  let folder: string;
  let port: number;
  let running: ChildProcess | undefined;
  let seen: IncomingMessage[];
  const gateway = useGateway();
  /** Records requests, and rejects them before their body has arrived, as a gateway does for an unknown key. */
  const recorder = useOpened(async () => {
    const server = createServer((request, response) => {
      seen.push(request);
      response.writeHead(401).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      async close() {
        server.close().closeAllConnections();
      },
    };
  });
  beforeEach(async () => {
    folder = tempFolder();
    port = await freePort();
    seen = [];
  });
  afterEach(async () => {
    if (running?.exitCode === null) {
      const closed = once(running, 'close');
      running.kill('SIGTERM');
      await closed;
    }
    running = undefined;
  });

  /** Writes the files with this machine's paths and ports, and returns the arguments for nginx. */
  function configure(server: string, upstream: string, tlsPort = 0): string[] {
    const path = (name: string) => join(folder, name);
    mkdirSync(path('servers'));
    const local = (text: string) =>
      text
        .replaceAll(/\/(?:etc\/nginx|tmp)\//g, `${folder}/`)
        .replaceAll('server gateway-1:8080', `server ${upstream}`)
        .replaceAll(/ +server gateway-2:8080.*\n/g, '')
        .replaceAll('listen 8080', `listen 127.0.0.1:${port}`)
        .replaceAll('listen 8443', `listen 127.0.0.1:${tlsPort}`)
        .replace('/dev/stderr', `${folder}/error.log`);
    writeFileSync(
      path('nginx.conf'),
      `daemon off;\nmaster_process off;\n${local(main).replace('worker_processes auto;', '')}`,
    );
    writeFileSync(path('locations.conf'), local(locations));
    writeFileSync(path('servers/server.conf'), local(server));
    return ['-p', folder, '-c', path('nginx.conf'), '-e', path('error.log')];
  }

  async function start(args: string[]): Promise<void> {
    execFileSync('nginx', [...args, '-t'], { stdio: 'pipe' });
    running = spawn('nginx', args, { stdio: 'ignore' });
    for (;;) {
      const reached = await fetch(`http://127.0.0.1:${port}/livez`).then(
        () => true,
        () => false,
      );
      if (reached) return;
      if (running.exitCode !== null) throw new Error(readFileSync(join(folder, 'error.log'), 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const post = (path: string, body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': type, 'X-Api-Key': gateway.key },
      body,
    });

  /** A certificate and its key, under the names that TLS files have. */
  function writeCertificate(certificates: string): void {
    mkdirSync(certificates, { recursive: true });
    const files = ['-keyout', join(certificates, 'privkey.pem'), '-out', join(certificates, 'fullchain.pem')];
    const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '2'];
    execFileSync('openssl', ['req', ...kind, ...files], { stdio: 'pipe' });
  }

  it('passes operations on, and answers problems of its own as a gateway would', async () => {
    await start(configure(plain, new URL(gateway.url).host));
    const found = await post('/api/contacts/search', '{"organization_id":"org_a"}');
    expect(found.status).to.equal(200);
    for (const spelling of ['/metrics/', '/METRICS', '/metrics/x', '//metrics']) {
      const answer = await fetch(`http://127.0.0.1:${port}${spelling}`);
      expect([spelling, answer.status]).to.deep.equal([spelling, 404]);
    }
    const hidden = await fetch(`http://127.0.0.1:${port}/metrics`);
    const large = await post('/api/contacts/search', new Uint8Array(2 * MEGABYTE));
    for (const [answer, status, code, instance] of [
      [hidden, 404, 'route_not_found', '/metrics'],
      [large, 413, 'body_too_large', '/api/contacts/search'],
    ] as const) {
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('Content-Type')).to.equal('application/problem+json');
      expect(await answer.json()).to.include({ code, instance, status });
    }
  });

  it('lets a gateway reject a body that is a little too large, and takes 16 MiB of records', async () => {
    await start(configure(plain, new URL(gateway.url).host));
    const rejected = await post('/api/contacts/search', new Uint8Array(MEGABYTE + KILOBYTE));
    expect(((await rejected.json()) as { detail: string }).detail).to.contain('1048576 bytes');
    const lines = '{"contact_id":"n1"}\n'.padEnd(16 * MEGABYTE, '\n');
    const taken = await post('/api/ingest/contacts', lines, 'application/x-ndjson');
    expect(await taken.json()).to.include({ accepted: 1, rejected: 0 });
  });

  it('passes the address of the client on, and its body as it arrives, so that a stranger is rejected before sending it', async () => {
    await start(configure(plain, recorder.host));
    const stranger = httpRequest(`http://127.0.0.1:${port}/api/ingest/contacts`, {
      method: 'POST',
      headers: { 'Content-Length': 16 * MEGABYTE, 'X-Forwarded-For': '203.0.113.9' },
    });
    stranger.on('error', () => undefined);
    stranger.write('x');
    const [answer] = (await once(stranger, 'response')) as [IncomingMessage];
    expect(answer.statusCode).to.equal(401);
    stranger.destroy();
    expect(seen.at(-1)?.headers).to.include({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
  });

  it('limits requests and connections of an address', async () => {
    await start(configure(plain, recorder.host));
    const answers = await Promise.all(
      Array.from({ length: 1500 }, () => fetch(`http://127.0.0.1:${port}/x`).then(({ status }) => status)),
    );
    expect(new Set(answers)).to.deep.equal(new Set([401, 429]));
  });

  it('serves TLS from the example, and sends nothing on that came in the clear', async () => {
    writeCertificate(join(folder, 'tls'));
    const tlsPort = await freePort();
    await start(configure(tls, recorder.host, tlsPort));
    seen = [];
    const clear = await post('/api/contacts/search', '{}');
    expect(clear.status).to.equal(403);
    expect(await clear.json()).to.include({ code: 'tls_required' });
    const linked = await fetch(`http://127.0.0.1:${port}/docs?x=1`, { redirect: 'manual' });
    const location = linked.headers.get('Location');
    expect([linked.status, location]).to.deep.equal([308, 'https://127.0.0.1/docs?x=1']);
    expect(seen).to.deep.equal([]);
    const options = { host: '127.0.0.1', port: tlsPort, path: '/y', rejectUnauthorized: false };
    const [answer] = (await once(httpsRequest(options).end(), 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).to.equal(401);
    expect(answer.headers['strict-transport-security']).to.match(/^max-age=\d+$/);
    expect(seen.at(-1)?.headers['x-forwarded-proto']).to.equal('https');
  });

  it('takes the file for one machine', () => {
    writeCertificate(join(folder, 'reachline/tls'));
    writeFileSync(join(folder, 'reachline-locations.conf'), locations);
    const server = read('nginx/one-machine.conf')
      .replaceAll(/\/etc\/(nginx\/)?/g, `${folder}/`)
      .replaceAll(/listen \d+/g, `listen 127.0.0.1:${port}`);
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n');
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      `pid ${folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${server}\n}\n`,
    );
    execFileSync('nginx', ['-t', '-c', file, '-e', 'stderr'], { stdio: 'pipe' });
  });

  it('answers a problem when no gateway does', async () => {
    await start(configure(plain, `127.0.0.1:${await freePort()}`));
    const answer = await fetch(`http://127.0.0.1:${port}/api/contacts/search`);
    expect(answer.status).to.equal(503);
    expect(answer.headers.get('Retry-After')).to.equal('2');
    expect(await answer.json()).to.include({ code: 'overloaded' });
  });
});
