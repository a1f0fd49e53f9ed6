import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { issueKey } from '../../services/accounts/keys.js';
import { loadConfig } from '../../services/shared/config.js';
import { openStores } from '../../services/stores/open-stores.js';
import { runServer, type ServerProcess, startServer } from '../support/server-process.js';
import { until } from '../support/until.js';
import { testIndices } from './elasticsearch/support.js';

const PROCESSES = 3;
const LIMIT = 100;

describe('gateway processes that share a port', () => {
  const indices = testIndices();
  const environment = {
    REACHLINE_PROCESSES: String(PROCESSES),
    ELASTICSEARCH_INDEX_PREFIX: indices.config.indexPrefix,
    REACHLINE_LOG_LEVEL: 'fatal',
    REACHLINE_RATE_LIMIT: String(LIMIT),
  };
  let key: string;
  /** Key of an organization that has used nothing of the limit. */
  let fresh: string;
  let server: ServerProcess;

  before(async () => {
    const stores = await openStores(loadConfig({ ...process.env, ...environment }));
    key = await issueKey(stores.search, { organizationId: 'org_a', scopes: ['*'] });
    fresh = await issueKey(stores.search, { organizationId: 'org_b', scopes: ['*'] });
    await stores.close();
    server = await startServer({ key, environment });
  });
  after(() => server?.kill());

  const counted = async (code: number) => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const sample = `duration_seconds_count{operation="/api/audiences/search",status="${code}"} `;
    return Number.parseInt(text.split(sample)[1] ?? '', 10);
  };

  it('count the requests of a key together, and render their metrics together', async () => {
    const begun = performance.now();
    const answers: number[] = [];
    for (let count = 0; count < 3 * LIMIT; count++) {
      answers.push(await status(`${server.url}/api/audiences/search`, { 'X-Api-Key': key }, '{}'));
      // Wait longer than one process takes to tell the others what it admitted.
      await pause(5);
    }
    const admitted = answers.filter((answer) => answer === 200).length;
    const refilled = (LIMIT * (performance.now() - begun)) / 60_000;
    // Alone, each would have let its third of the requests through.
    expect(admitted).to.be.within(LIMIT, 1.25 * LIMIT + refilled);
    expect(answers.filter((answer) => answer === 429).length).to.equal(3 * LIMIT - admitted);
    const areCounted = async () =>
      (await counted(200)) === admitted && (await counted(429)) === 3 * LIMIT - admitted;
    await until(areCounted, 'every request is counted');
  });

  it('go on when one is killed, and another takes its place', async () => {
    const { url, pid } = server;
    const before = gatewaysOf(pid);
    process.kill(before[0] as number, 'SIGKILL');
    await until(() => !isThere(before[0] as number), 'the process has ended');
    for (let count = 0; count < 20; count++) expect(await status(`${url}/livez`)).to.equal(200);
    await until(() => gatewaysOf(pid).length === PROCESSES, 'another process has started');
    expect(gatewaysOf(pid)).to.include.members(before.slice(1)).and.not.include(before[0]);
  });

  it('say once why they cannot start', async () => {
    const { port } = new URL(server.url);
    const { code, errors } = await runServer({ environment: { ...environment, PORT: port } });
    expect(code).to.equal(1);
    expect(errors).to.match(new RegExp(`^Port ${port} is in use.*\n$`));
  });

  it('end on a signal to the primary, which printed their address once, after their running requests', async () => {
    const { url, output, stop, pid } = server;
    const gateways = gatewaysOf(pid);
    expect(gateways).to.have.lengthOf(PROCESSES);
    const begun = Array.from({ length: 12 }, () => begin(`${url}/api/contacts/search`, fresh));
    await Promise.all(begun.map(({ taken }) => taken));
    const ended = stop();
    const answers = await Promise.all(begun.map(({ finish }) => finish('{"organization_id":"org_b"}')));
    expect(answers).to.deep.equal(Array(12).fill(200));
    expect(await ended).to.deep.equal({ code: 0, signal: null });
    expect(gateways.filter(isThere)).to.deep.equal([]);
    expect(
      output()
        .split('\n')
        .filter((line) => line.includes(url)),
    ).to.have.lengthOf(1);
  });
});

const gatewaysOf = (pid: number) =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number);

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Status of a request on a connection of its own, so that each may come to another process. */
function status(url: string, headers: Record<string, string> = {}, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const options = { agent: false, method, headers: { 'Content-Type': 'application/json', ...headers } };
    request(url, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode as number));
    })
      .once('error', reject)
      .end(body);
  });
}

/** A request without its body: `taken` once a process has it, `finish` sends the body and resolves with the status. */
function begin(url: string, key: string): { taken: Promise<unknown>; finish(body: string): Promise<number> } {
  const headers = { 'X-Api-Key': key, 'Content-Type': 'application/json', Expect: '100-continue' };
  const sent = request(url, { method: 'POST', agent: false, headers });
  const taken = once(sent, 'continue');
  sent.flushHeaders();
  return {
    taken,
    async finish(body) {
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      sent.end(body);
      const [answer] = await answered;
      answer.resume();
      return answer.statusCode as number;
    },
  };
}
