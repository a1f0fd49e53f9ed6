import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openStores } from '../../services/stores/open-stores.js';
import { type ClickHouseServer, startClickHouseServer } from '../support/clickhouse-server.js';
import { prepareOrganization } from '../support/server-process.js';

/** One call per block, in which the engine looks at neither its time limit nor `KILL QUERY`. */
const endless = (rows: number) =>
  `SELECT sum(editDistance(repeat('a', 30000), repeat(toString(number % 10), 30000))) FROM numbers(${rows})`;
const ask = async (url: string, query: string) => {
  const answer = await fetch(url, { method: 'POST', body: query });
  return [answer.status, answer.headers.get('x-clickhouse-exception-code'), await answer.text()] as const;
};

describe('a statement that the engine cannot end', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'reachline-endless-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  describe('in a door with one slot', () => {
    let server: ClickHouseServer;
    beforeEach(async () => {
      server = await startClickHouseServer(folder, { concurrency: 1, deadlineMs: 500 });
    });
    afterEach(() => server.close());

    it('is answered 503 at the deadline, and the next one runs', async () => {
      const [status, code, text] = await ask(server.url, endless(3));
      expect([status, code]).to.deep.equal([503, '209']);
      expect(text).to.include('did not end within 0.5 s');
      expect(await ask(server.url, 'SELECT 1')).to.deep.equal([200, null, '1\n']);
    });

    it('gives its slot back after its client has left', async () => {
      const leaving = new AbortController();
      const left = fetch(server.url, { method: 'POST', body: endless(3), signal: leaving.signal });
      setTimeout(() => leaving.abort(), 100);
      await left.catch(() => undefined);
      expect(await ask(server.url, 'SELECT 1')).to.deep.equal([200, null, '1\n']);
    });

    it('is run twice beside others at most, so that threads are left for the API', async () => {
      await ask(server.url, endless(3));
      await ask(server.url, endless(3));
      const [status, , text] = await ask(server.url, 'SELECT 1');
      expect(status).to.equal(503);
      expect(text).to.include('still running');
    });
  });

  describe('in a process', () => {
    let child: ChildProcess;
    afterEach(() => child.kill('SIGKILL'));

    it('does not keep it from ending at SIGTERM, with the search store closed', async () => {
      await prepareOrganization(folder, 'org_endless');
      const fixture = fileURLToPath(new URL('./endless.fixture.js', import.meta.url));
      child = spawn(process.execPath, [fixture, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'close');
      const [address] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
      const url = String(address).trim();
      let said = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk;
      });
      void ask(url, endless(2000)).catch(() => undefined);
      // At its beginning it can still be ended.
      const running =
        "SELECT count() FROM system.processes WHERE query LIKE '%editDistance%' AND query NOT LIKE '%processes%' AND elapsed > 2";
      while ((await ask(url, running))[2] !== '1\n');
      child.kill('SIGTERM');
      expect(await ended).to.deep.equal([null, 'SIGKILL']);
      expect(said).to.equal('search store closed\n');
      const stores = await openStores({ dataDir: folder, searchThreads: 1 });
      await stores.search.ping();
      await stores.analytics.ping();
      await stores.close();
    });
  });
});
