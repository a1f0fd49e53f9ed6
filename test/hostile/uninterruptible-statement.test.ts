import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openStores } from '../../services/stores/open-stores.js';
import { ask, endless } from '../support/endless-statement.js';
import { prepareOrganization } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

describe('A server whose engine runs a statement that cannot be interrupted', () => {
  let child: ChildProcess | undefined;
  after(() => child?.kill('SIGKILL'));

  it('ends at SIGTERM all the same, with the records store closed', async () => {
    const folder = tempFolder();
    await prepareOrganization(folder, 'org_endless');
    const fixture = fileURLToPath(
      new URL('../sql-endpoint/uninterruptible-statement.fixture.js', import.meta.url),
    );
    child = spawn(process.execPath, [fixture, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'close');
    const [address] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const url = String(address).trim();
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    let outcome: unknown;
    const settle = (settled: unknown) => {
      outcome = settled;
    };
    void ask(url, endless(2000)).then(settle, settle);
    // Waits, because a statement can still be interrupted at its beginning.
    const running =
      "SELECT count() FROM system.processes WHERE query LIKE '%editDistance%' AND query NOT LIKE '%processes%' AND elapsed > 2";
    const isRunning = async () => {
      expect(outcome, 'the statement ended').to.equal(undefined);
      return Number((await ask(url, running))[2]) >= 1;
    };
    await until(isRunning, 'the statement runs', { pollMs: 100 });
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
    expect(said).to.equal('records store closed\n');
    const stores = await openStores({ dataDir: folder, searchProcesses: 1 });
    await stores.records.ping();
    await stores.analytics.ping();
    await stores.close();
  });
});
