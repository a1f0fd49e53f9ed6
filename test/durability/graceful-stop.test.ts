import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { temporaryFolder } from '../support/gateway.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';

const ORGANIZATION = 'org_stop';

describe('Stopping a server', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let key: string;
  let server: ServerProcess;

  before(async () => {
    folder = await temporaryFolder();
    key = await prepareOrganization(folder.path, ORGANIZATION);
  });
  beforeEach(async () => {
    server = await startServer({ dataDir: folder.path, key });
  });
  afterEach(() => server.kill());
  after(() => folder.remove());

  /** An intake whose body has only begun to arrive; the server has taken it when `begun` resolves. */
  function slowIntake(id: string) {
    const sent = request(`${server.url}/api/ingest/contacts`, {
      method: 'POST',
      headers: { 'X-Api-Key': key, 'Content-Type': 'application/x-ndjson', Expect: '100-continue' },
    });
    const begun = new Promise<void>((resolve) => sent.once('continue', resolve));
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      sent.once('error', reject);
    });
    answer.catch(() => undefined);
    sent.flushHeaders();
    return { begun, answer, finish: () => sent.end(JSON.stringify({ contact_id: id, first_name: 'Last' })) };
  }

  /** Resolves once no new connection is taken. */
  async function closedToOthers(): Promise<void> {
    const { port, hostname } = new URL(server.url);
    const isOpen = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(Number(port), hostname);
        socket.once('connect', () => socket.destroy());
        socket.once('connect', () => resolve(true));
        socket.once('error', () => resolve(false));
      });
    while (await isOpen());
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`on ${signal} finishes what is under way, takes nothing new, and exits with 0`, async () => {
      const id = `contact_of_${signal}`;
      const intake = slowIntake(id);
      await intake.begun;
      server.signal(signal);
      await closedToOthers();
      intake.finish();
      const answer = await intake.answer;
      expect(answer.statusCode).to.equal(200);
      expect(answer.headers.connection).to.equal('close');
      answer.resume();
      expect(await server.ended).to.deep.equal({ code: 0, signal: null });
      server = await startServer({ dataDir: folder.path, key });
      const found = await server.call('/api/contacts/get', { organization_id: ORGANIZATION, contact_id: id });
      expect(found.status).to.equal(200);
    });
  }

  it('answers nothing that comes after it was told to stop, not even on a connection that is open', async () => {
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
    server.signal('SIGTERM');
    await closedToOthers();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${record}GET /readyz HTTP/1.1\r\nHost: test\r\n\r\n`);
    await closed;
    expect(received.match(/^HTTP\/1\.1 \d+/gm)).to.deep.equal(['HTTP/1.1 100', 'HTTP/1.1 200']);
    expect(received).to.match(/^Connection: close\r$/m);
    expect(await server.ended).to.deep.equal({ code: 0, signal: null });
  });

  it('is not held up by a connection that is kept alive and idle', async () => {
    const { port, hostname } = new URL(server.url);
    const idle = connect(Number(port), hostname);
    const closed = new Promise((resolve) => idle.once('close', resolve));
    idle.write('GET /livez HTTP/1.1\r\nHost: test\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    await closed;
  });

  it('is not held up by a connection that never sent anything', async () => {
    const { port, hostname } = new URL(server.url);
    const silent = connect(Number(port), hostname);
    await new Promise((resolve) => silent.once('connect', resolve));
    const closed = new Promise((resolve) => silent.once('close', resolve));
    await server.call('/livez', undefined, { method: 'GET' });
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    await closed;
  });

  it('hurries at a second signal, whatever is still under way', async () => {
    const intake = slowIntake('never_finished');
    await intake.begun;
    server.signal('SIGTERM');
    await closedToOthers();
    server.signal('SIGINT');
    const { code, signal } = await server.ended;
    expect(code ?? signal).not.to.equal(0);
    await intake.answer.then(
      () => expect.fail('it was answered'),
      () => undefined,
    );
    server = await startServer({ dataDir: folder.path, key });
    expect((await server.call('/readyz', undefined, { method: 'GET' })).body.ready).to.equal(true);
  });
});
