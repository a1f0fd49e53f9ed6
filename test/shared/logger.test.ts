import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Logger } from 'pino';
import { type Gateway, startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger, loggedPath } from '../../services/shared/logger.js';
import { OPERATION_BODY, serveOperations } from '../support/app.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { sendBytes } from '../support/raw-http.js';
import { until } from '../support/until.js';

type Line = Record<string, unknown> & { level: string; msg: string };

describe('The log of requests', function () {
  this.timeout(60_000);
  let stores: TestGateway;
  let gateway: Gateway;
  let lines: Line[] = [];
  const logger: Logger = createLogger('info', { write: (text) => void lines.push(JSON.parse(text) as Line) });

  before(async () => {
    stores = await startTestGateway();
    const config = loadConfig({ PORT: '0', REACHLINE_RATE_LIMIT: '0', REACHLINE_DATA_DIR: stores.dataDir });
    gateway = await startGateway({ ...config, trustedProxies: ['127.0.0.1'] }, stores.stores, logger);
  });
  beforeEach(() => {
    lines = [];
  });
  after(async () => {
    await gateway.stop();
    await stores.close();
  });

  /** The first line for which `holds` is true, once it is written. */
  async function line(holds: (line: Line) => boolean): Promise<Line> {
    await until(() => lines.some(holds), 'the line is logged');
    return lines.find(holds) as Line;
  }

  it('contains the client address and a truncated path', async () => {
    await fetch(`${gateway.url}/${'x'.repeat(15_000)}`, { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    const { path, client } = await line(({ msg }) => msg === 'request');
    expect(path).to.have.lengthOf(257);
    expect(client).to.equal('203.0.113.9');
  });

  it('redacts an API key that is percent-encoded several times in a path', async () => {
    for (const spelling of ['rl_live_', 'rl%5flive_', '%72l_live%5F', 'rl%255flive_', '%2572l%25255flive_']) {
      lines = [];
      await fetch(`${gateway.url}/x/${spelling}AbCdEfGh_secret?key=${spelling}AbCdEfGh_secret`);
      expect((await line(({ msg }) => msg === 'request')).path).to.equal('/x/rl_live_[redacted]');
    }
    expect(loggedPath('/a%20b%')).to.equal('/a%20b%');
  });

  it('logs no error for invalid HTTP, before or within a body', async () => {
    await sendBytes(gateway.url, ['HELLO\r\n\r\n']);
    const head = `POST /api/contacts/search HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${stores.key}\r\nContent-Type: application/json\r\n`;
    await sendBytes(gateway.url, [`${head}Transfer-Encoding: chunked\r\n\r\n`, 'zz\r\n']);
    await line(({ status }) => status === 499);
    expect(lines.filter(({ level }) => level !== 'info' && level !== 'debug')).to.deep.equal([]);
    expect(lines.map(({ code }) => code)).to.include('malformed_request');
  });

  describe('of slow operations', () => {
    const begun: (() => void)[] = [];
    const aborted: unknown[] = [];
    const waits = ({ signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(signal.reason);
          reject(signal.reason as Error);
        });
        begun.shift()?.();
      });
    /** A request takes 100 of the 500 slots of a key, so a key may have five of these requests at once. */
    const operations = { '/api/waits': { work: waits, slots: 100 } };
    const serve = (requestTimeoutMs: number) => () =>
      serveOperations(stores.stores, operations, { requestTimeoutMs, logger });
    const hasty = useOpened(serve(1000));
    const patient = useOpened(serve(60_000));

    const text = () =>
      [
        'POST /api/waits HTTP/1.1',
        'Host: x',
        `X-Api-Key: ${stores.key}`,
        'Content-Type: application/json',
        `Content-Length: ${OPERATION_BODY.length}`,
        'Connection: close',
        `\r\n${OPERATION_BODY}`,
      ].join('\r\n');

    it('logs 499 for a client that disconnects, and aborts its work', async () => {
      const running = new Promise<void>((resolve) => begun.push(resolve));
      const { port, hostname } = new URL(hasty.url);
      const socket: Socket = connect(Number(port), hostname);
      socket.write(text());
      await running;
      socket.destroy();
      const logged = await line(({ msg }) => msg === 'request');
      expect(logged).to.include({ status: 499, level: 'info' });
      expect(logged).not.to.have.property('code');
      expect(aborted).to.have.lengthOf(1);
      expect(lines).to.have.lengthOf(1);
    });

    it('logs a timeout without a stack', async () => {
      await sendBytes(hasty.url, [text()]);
      const logged = await line(({ level }) => level === 'error');
      expect(logged).to.include({ code: 'timeout', detail: 'The request took longer than 1 s.' });
      expect(logged).not.to.have.property('err');
      expect(aborted).to.have.lengthOf(2);
    });

    it('counts requests rejected as overloaded in one warning', async () => {
      // No request ends by itself, so requests above the limit of a key are rejected however slowly they arrive.
      const { port, hostname } = new URL(patient.url);
      const sockets = Array.from({ length: 30 }, () =>
        connect(Number(port), hostname).on('error', () => undefined),
      );
      for (const socket of sockets) socket.write(text());
      const rejected = () =>
        lines.filter(({ msg, code }) => msg === 'request' && code === 'overloaded').length;
      await until(() => rejected() === 25, 'requests above the limit are rejected');
      for (const socket of sockets) socket.destroy();
      const warnings = () => lines.filter(({ level }) => level === 'warn');
      const counted = () => warnings().reduce((sum, warning) => sum + (warning.rejected as number), 0);
      await line(() => counted() === rejected());
      expect(warnings()).to.have.length.below(rejected());
      expect(
        lines.filter(({ level, code }) => ['error', 'fatal'].includes(level) && code === 'overloaded'),
      ).to.deep.equal([]);
      for (const warning of warnings()) {
        expect(warning).to.include({ code: 'overloaded' }).and.not.to.have.property('err');
      }
    });
  });
});
