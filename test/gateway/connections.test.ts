import { Agent, request as sendRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { connectionLimits } from '../../services/gateway/connections.js';
import { type Gateway, type GatewayOptions, startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { parseAnswer, sendBytes } from '../support/raw-http.js';

const SEARCH = '/api/contacts/search';
const INTAKE = '/api/ingest/contacts';
const MIB = 1024 * 1024;

describe('The connections of a gateway', function () {
  this.timeout(60_000);
  let stores: TestGateway;
  const started: Gateway[] = [];
  before(async () => {
    stores = await startTestGateway();
  });
  after(async () => {
    await Promise.all(started.map((gateway) => gateway.stop()));
    await stores.close();
  });

  async function start(limits: GatewayOptions['limits'] = {}): Promise<string> {
    const gateway = await startWith({}, limits);
    started.push(gateway);
    return gateway.url;
  }

  function startWith(
    environment: Record<string, string>,
    limits: GatewayOptions['limits'] = {},
  ): Promise<Gateway> {
    const common = { PORT: '0', REACHLINE_RATE_LIMIT: '0', REACHLINE_DATA_DIR: stores.dataDir };
    const config = loadConfig({ ...common, ...environment });
    return startGateway(config, stores.stores, createLogger('silent'), { limits });
  }

  const head = (path: string, ...headers: string[]) =>
    [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '\r\n'].join('\r\n');
  const jsonOf = (key: string) => [`X-Api-Key: ${key}`, 'Content-Type: application/json'];

  it('take half of the file descriptors that are free at the start', () => {
    expect(connectionLimits(128, 69).max).to.equal(29);
    expect(connectionLimits(1_000_000, 100).max).to.equal(10_000);
    expect(connectionLimits(64, 64).max).to.equal(1);
  });

  describe('deliver the response to a body that is rejected while it is still being sent:', () => {
    let url: string;
    before(async () => {
      url = await start();
    });
    const chunk = Buffer.alloc(MIB, 'x');
    const sixMib = Array.from({ length: 6 }, () => chunk);
    const length = (mebibytes: number) => `Content-Length: ${mebibytes * MIB}`;
    const own = () => jsonOf(stores.key);
    const text = () => [`X-Api-Key: ${stores.key}`, 'Content-Type: text/plain'];
    const cases: [what: string, path: string, headers: () => string[], status: number, code: string][] = [
      ['without a key', SEARCH, () => [length(6)], 401, 'missing_api_key'],
      ['too large', SEARCH, () => [...own(), length(6)], 413, 'body_too_large'],
      ['too large for ingest', INTAKE, () => [...own(), length(17)], 413, 'body_too_large'],
      ['of another type', SEARCH, () => [...text(), length(6)], 415, 'unsupported_media_type'],
      ['to nowhere', '/api/nowhere', () => [length(6)], 404, 'route_not_found'],
    ];
    for (const [what, path, headers, status, code] of cases) {
      it(what, async () => {
        for (let round = 0; round < 5; round++) {
          const answer = parseAnswer(await sendBytes(url, [head(path, ...headers()), ...sixMib]));
          expect(answer.status).to.equal(status);
          expect(answer.body.code).to.equal(code);
          expect(answer.headers.connection).to.equal('close');
        }
      });
    }

    it('a chunked body that is too large', async () => {
      const chunks = sixMib.flatMap((bytes) => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n']);
      const headers = [...jsonOf(stores.key), 'Transfer-Encoding: chunked'];
      const answer = parseAnswer(await sendBytes(url, [head(SEARCH, ...headers), ...chunks]));
      expect(answer.body.code).to.equal('body_too_large');
    });

    it('a body announced by Expect: 100-continue, which is never requested', async () => {
      const headers = ['X-Api-Key: wrong', 'Content-Length: 9', 'Expect: 100-continue'];
      const rejected = await sendBytes(url, [head(SEARCH, ...headers)]);
      expect(parseAnswer(rejected).body.code).to.equal('invalid_api_key');
      const taken = [...jsonOf(stores.key), 'Content-Length: 2', 'Expect: 100-continue', 'Connection: close'];
      expect(await sendBytes(url, [head(SEARCH, ...taken), '{}'])).to.match(
        /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP/,
      );
    });
  });

  describe('answer invalid HTTP with a problem:', () => {
    let url: string;
    before(async () => {
      url = await start({});
    });
    const cases: [what: string, text: string, status: number, code: string][] = [
      ['nonsense', 'HELLO\r\n\r\n', 400, 'malformed_request'],
      ['no Host', 'GET /livez HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
      ['two Hosts', 'GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'malformed_request'],
      [
        'a transfer encoding besides chunked',
        `${head(SEARCH, 'Transfer-Encoding: gzip, chunked')}2\r\n{}\r\n0\r\n\r\n`,
        400,
        'malformed_request',
      ],
      [
        'a transfer encoding that is not known',
        `${head(SEARCH, 'Transfer-Encoding: xchunked')}2\r\n{}\r\n0\r\n\r\n`,
        400,
        'malformed_request',
      ],
      ['two lengths', head(SEARCH, 'Content-Length: 1', 'Content-Length: 2'), 400, 'malformed_request'],
      ['headers of 20 KiB', head(SEARCH, `X-Filler: ${'x'.repeat(20_000)}`), 431, 'headers_too_large'],
      ['an expectation', head(SEARCH, 'Expect: miracles', 'Content-Length: 0'), 417, 'expectation_failed'],
      ['headers that never end', 'GET /livez HTTP/1.1\r\nHost: x\r\n', 408, 'request_timeout'],
    ];
    for (const [what, text, status, code] of cases) {
      it(what, async () => {
        // Headers that arrive late on a busy machine are not such a case.
        const impatient = status === 408 ? await start({ headersMs: 200, checkMs: 50 }) : url;
        const answer = parseAnswer(await sendBytes(impatient, [text]));
        expect(answer.status).to.equal(status);
        expect(answer.headers['content-type']).to.equal('application/problem+json; charset=utf-8');
        expect(answer.headers['x-request-id']).to.match(/^req_/);
        expect(answer.body).to.include({ status, code, request_id: answer.headers['x-request-id'] });
      });
    }
  });

  it('answer requests that were carried out before they refuse what follows on the connection', async () => {
    const url = await start({});
    const body = '{"organization_id":"org_a"}';
    const request = `${head(SEARCH, ...jsonOf(stores.key), `Content-Length: ${body.length}`)}${body}`;
    const text = await sendBytes(url, [`${request.repeat(3)}BROKEN\r\n\r\n`]);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).to.deep.equal(['200', '200', '200', '400']);
  });

  it('serve one request after the other although headers time out sooner, and say that they stay for 75 s', async () => {
    const url = await start({ headersMs: 1000, checkMs: 20 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<Socket>();
    const livez = () =>
      new Promise<string>((resolve, reject) => {
        const sent = sendRequest(`${url}/livez`, { agent }, (response) => {
          response.resume().once('end', () => resolve(String(response.headers['keep-alive'])));
        });
        sent.once('socket', (socket: Socket) => sockets.add(socket));
        sent.once('error', reject).end();
      });
    expect(await livez()).to.equal('timeout=75');
    await pause(1200);
    expect(await livez()).to.equal('timeout=75');
    expect(sockets.size).to.equal(1);
    agent.destroy();
  });

  it('accept a new client by closing the longest idle connection', async () => {
    const url = await start({ max: 50 });
    const { port, hostname } = new URL(url);
    const idle = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        // Some connections send nothing, some half a request.
        if (index % 2 === 0) socket.write('GET /livez HTTP/1.1\r\nHo');
        return new Promise<Socket>((resolve) => socket.once('connect', () => resolve(socket)));
      }),
    );
    const response = await fetch(`${url}/livez`);
    expect(response.status).to.equal(200);
    for (const socket of idle) socket.destroy();
  });

  it('of a proxy answer a request that was on its way at shutdown, and are closed after it', async () => {
    const gateway = await startWith({ REACHLINE_TRUSTED_PROXIES: '127.0.0.1' });
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const livez = async () => {
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      return String(await new Promise((resolve) => socket.once('data', resolve)));
    };
    expect(await livez()).to.match(/^HTTP\/1.1 200 /);
    const stopped = gateway.stop();
    const refused = await fetch(`${gateway.url}/livez`).catch(({ cause }: { cause: Error }) => cause);
    expect(refused).to.include({ code: 'ECONNREFUSED' });
    expect(await livez()).to.match(/^HTTP\/1.1 200 [\s\S]*\r\nConnection: close\r\n/i);
    await Promise.all([closed, stopped]);
  });

  it('are closed when they never send a request', async () => {
    const url = await start({ headersMs: 100, checkMs: 20 });
    expect(await sendBytes(url, [])).to.equal('');
  });
});
