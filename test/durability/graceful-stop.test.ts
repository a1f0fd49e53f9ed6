import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const ORGANIZATION = 'org_stop';

describe('A graceful shutdown', function () {
  this.timeout(60_000);
  let folder: string;
  let key: string;
  let server: ServerProcess;
  /** The test has left a server that the next one can use. */
  let isFresh = false;
  const start = async () => {
    server = await startServer({ dataDir: folder, key });
    isFresh = true;
  };

  before(async () => {
    folder = tempFolder();
    key = await prepareOrganization(folder, ORGANIZATION);
  });
  beforeEach(async () => {
    if (!isFresh) await start();
    isFresh = false;
  });
  afterEach(async () => {
    if (!isFresh) await server.kill();
  });
  after(async () => {
    await server.kill();
  });

  /** An ingest request whose body is incomplete; `started` resolves when the server handles it. */
  function slowIngest(id: string) {
    const sent = request(`${server.url}/api/ingest/contacts`, {
      method: 'POST',
      headers: { 'X-Api-Key': key, 'Content-Type': 'application/x-ndjson', Expect: '100-continue' },
    });
    const started = new Promise<void>((resolve) => sent.once('continue', resolve));
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      sent.once('error', reject);
    });
    answer.catch(() => undefined);
    sent.flushHeaders();
    return {
      started,
      answer,
      finish: () => sent.end(JSON.stringify({ contact_id: id, first_name: 'Last' })),
    };
  }

  /** Resolves once new connections are rejected. */
  async function closedToNewConnections(): Promise<void> {
    const { port, hostname } = new URL(server.url);
    const isOpen = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(Number(port), hostname);
        socket.once('connect', () => socket.destroy());
        socket.once('connect', () => resolve(true));
        socket.once('error', () => resolve(false));
      });
    await until(async () => !(await isOpen()), 'new connections are rejected');
  }

  it('finishes requests in flight on SIGTERM, waits for no idle or silent connection, and exits with 0', async () => {
    const { port, hostname } = new URL(server.url);
    const [idle, silent] = [connect(Number(port), hostname), connect(Number(port), hostname)];
    const closed = [idle, silent].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    await new Promise((resolve) => silent.once('connect', resolve));
    idle.write('GET /livez HTTP/1.1\r\nHost: test\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    const ingest = slowIngest('last');
    await ingest.started;
    server.signal('SIGTERM');
    await closedToNewConnections();
    await Promise.all(closed);
    ingest.finish();
    const answer = await ingest.answer;
    expect(answer.statusCode).to.equal(200);
    expect(answer.headers.connection).to.equal('close');
    answer.resume();
    expect(await server.ended).to.deep.equal({ code: 0, signal: null });
    await start();
    const found = await server.call('/api/contacts/get', {
      organization_id: ORGANIZATION,
      contact_id: 'last',
    });
    expect(found.status).to.equal(200);
  });

  it('answers no request that arrives after SIGINT, not even on an open connection', async () => {
    const { port, hostname } = new URL(server.url);
    const record = JSON.stringify({ contact_id: 'pipelined' });
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk;
    });
    socket.write(
      `POST /api/ingest/contacts HTTP/1.1\r\nHost: test\r\nX-Api-Key: ${key}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/x-ndjson\r\nContent-Length: ${record.length}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once('data', resolve));
    expect(received).to.match(/^HTTP\/1\.1 100 /);
    server.signal('SIGINT');
    await closedToNewConnections();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${record}GET /readyz HTTP/1.1\r\nHost: test\r\n\r\n`);
    await closed;
    expect(received.match(/^HTTP\/1\.1 \d+/gm)).to.deep.equal(['HTTP/1.1 100', 'HTTP/1.1 200']);
    expect(received).to.match(/^Connection: close\r$/m);
    expect(await server.ended).to.deep.equal({ code: 0, signal: null });
  });

  it('aborts requests in flight at a second signal', async () => {
    const ingest = slowIngest('never_finished');
    await ingest.started;
    server.signal('SIGTERM');
    await closedToNewConnections();
    server.signal('SIGINT');
    const { code, signal } = await server.ended;
    expect(code ?? signal).not.to.equal(0);
    await ingest.answer.then(
      () => expect.fail('it was answered'),
      () => undefined,
    );
    await start();
    expect((await server.call('/readyz', undefined, { method: 'GET' })).body.ready).to.equal(true);
  });
});
