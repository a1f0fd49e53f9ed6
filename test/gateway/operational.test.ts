import { connect } from 'node:net';
import { expect } from 'chai';
import { ListenError, startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { systemClock } from '../../services/shared/time.js';
import { freePort } from '../stack/free-port.js';
import { startTestGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';
import { expectRules } from '../support/problems.js';
import { sendBytes } from '../support/raw-http.js';
import { until } from '../support/until.js';

const SEARCH = '/api/contacts/search';

describe('The operational endpoints of a gateway', () => {
  const gateway = useOpened(() => startTestGateway({}, systemClock, { analyticsOnDemand: false }));

  const get = (path: string) => gateway.call(path, undefined, { method: 'GET', key: null });
  /** Responses to requests that arrive in one piece, so that none is answered before the last has arrived. */
  const atOnce = async (path: string, count: number) => {
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\n`;
    const requests = `${head}\r\n`.repeat(count - 1);
    const text = await sendBytes(gateway.url, [`${requests}${head}Connection: close\r\n\r\n`]);
    return text.split(/^HTTP\/1\.1 /m).slice(1);
  };
  const sampleOf = (text: string, name: string) =>
    Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);

  it('ping the stores once for concurrent /readyz requests', async () => {
    const { records } = gateway.stores;
    const ping = records.ping.bind(records);
    let pings = 0;
    records.ping = () => {
      pings++;
      return ping();
    };
    for (const answer of await atOnce('/readyz', 200)) expect(answer).to.match(/^200 /);
    expect(pings).to.equal(1);
  });

  it('refuse a parameter of /readyz that would be ignored', async () => {
    for (const good of ['', '?writes=1']) expect((await get(`/readyz${good}`)).status, good).to.equal(200);
    for (const value of ['?writes', '?writes=', '?writes=true', '?writes=2', '?writes=0'])
      expectRules(await get(`/readyz${value}`), ['?writes invalid_value']);
    expectRules(await get('/readyz?writes=1&writes=1'), ['?writes repeated']);
    expectRules(await get('/readyz?write=1'), ['?write unknown_field']);
  });

  it('render metrics once for concurrent /metrics requests', async () => {
    const bodies = (await atOnce('/metrics', 50)).map((answer) => answer.slice(answer.indexOf('\r\n\r\n')));
    expect(bodies).to.have.lengthOf(50);
    expect(new Set(bodies).size).to.equal(1);
  });

  it('report requests in flight, their bodies and open connections', async function () {
    this.timeout(20_000);
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    const headers = `Host: x\r\nX-Api-Key: ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
    socket.write(`POST ${SEARCH} HTTP/1.1\r\n${headers}{`);
    let text = '';
    const sampled = async (metric: string) => {
      ({ text } = await get('/metrics'));
      return sampleOf(text, metric);
    };
    await until(
      async () => (await sampled('reachline_http_bodies_in_progress')) !== 0,
      'a body is in progress',
    );
    expect(sampleOf(text, 'reachline_http_requests_in_flight')).to.equal(1);
    expect(sampleOf(text, 'reachline_http_body_bytes')).to.equal(100);
    expect(sampleOf(text, 'reachline_http_slots_in_use')).to.equal(0);
    expect(sampleOf(text, 'reachline_exports_running')).to.equal(0);
    expect(sampleOf(text, 'reachline_http_connections')).to.be.at.least(2);
    expect(sampleOf(text, 'nodejs_eventloop_lag_p99_seconds')).to.be.at.least(0);
    socket.destroy();
    await until(async () => (await sampled('reachline_http_requests_in_flight')) === 0, 'the request ends');
    expect(sampleOf(text, 'reachline_http_body_bytes')).to.equal(0);
  });

  it('serve /metrics on its own port when one is configured', async () => {
    const port = await freePort();
    const config = loadConfig({
      PORT: '0',
      REACHLINE_METRICS_PORT: String(port),
      REACHLINE_DATA_DIR: gateway.dataDir,
    });
    const other = await startGateway(config, gateway.stores, createLogger('silent'));
    try {
      expect((await fetch(`${other.url}/metrics`)).status).to.equal(404);
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect(response.headers.get('Content-Type')).to.match(/^text\/plain/);
      expect(await response.text()).to.match(/reachline_http_problems_total\{code="route_not_found"\} 1/);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).to.equal(404);
      const taken = await startGateway(config, gateway.stores, createLogger('silent')).catch(
        (error: unknown) => error,
      );
      expect(taken)
        .to.be.instanceOf(ListenError)
        .that.has.property('message')
        .that.matches(/REACHLINE_METRICS_PORT/);
    } finally {
      await other.stop();
    }
  });
});
