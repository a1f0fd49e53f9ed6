import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inOrder } from '../../services/shared/record-order.js';
import { openStores } from '../../services/stores/open-stores.js';
import { run } from '../cli/support.js';
import { isAlive, runningEngine } from '../support/engine-pid.js';
import { prepareOrganization, runServer, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** Data files of parts in the folder of the analytics store. */
function dataFiles(folder: string, table: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile() && entry.name === 'data.bin' && entry.parentPath.includes(table))
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('ClickHouse parts that are damaged on disk', function () {
  this.timeout(120_000);
  let folder: string;
  let files: string[];
  let environment: Record<string, string>;

  beforeEach(async () => {
    folder = tempFolder();
    environment = { REACHLINE_DATA_DIR: folder, PORT: '0' };
    const stores = await openStores({ dataDir: folder, searchProcesses: 1 });
    const deliveries = Array.from({ length: 50 }, (_, index) => ({
      organization_id: 'org_a',
      date: '2026-08-05',
      campaign_id: `c${index}`,
      creative_id: 'r1',
      impressions: index,
    }));
    await stores.analytics.insertDeliveries(inOrder(deliveries, 1));
    await stores.close();
    files = dataFiles(join(folder, 'clickhouse'), '202608_');
    expect(files).to.have.length(1);
  });

  it('keep a server from starting, with a message that names them, until they are gone', async () => {
    for (const file of files) truncateSync(file, 10);
    for (const attempt of ['first', 'second']) {
      const { code, errors } = await runServer({ dataDir: folder });
      expect(code, attempt).to.equal(1);
      expect(errors).to.match(/could not read 1 parts of its tables \(creative_deliveries \S*202608_\S+\)/);
      expect(errors).to.include('Restore the data folder from a backup');
    }
    const detached = readdirSync(join(folder, 'clickhouse'), { recursive: true, encoding: 'utf8' });
    for (const path of detached.filter((path) => /detached\/[^/]*broken[^/]*$/.test(path))) {
      rmSync(join(folder, 'clickhouse', path), { recursive: true, force: true });
    }
    const stores = await openStores({ dataDir: folder, searchProcesses: 1 });
    await stores.analytics.ping();
    await stores.close();
  });

  it('take the figures away from a server whose engine starts again, and nothing else', async () => {
    const key = await prepareOrganization(folder, 'org_a');
    const server = await startServer({ dataDir: folder, key });
    const range = { start_date: '2026-08-01', end_date: '2026-08-31' };
    const list = () => server.call('/api/advertising/network_a/campaigns', range);
    try {
      expect((await list()).body.total_count).to.equal(50);
      const pid = await runningEngine(server);
      for (const file of files) truncateSync(file, 10);
      process.kill(pid, 'SIGKILL');
      await until(() => !isAlive(pid), 'the engine is gone');
      for (let time = 0; time < 3; time++) expect((await list()).status).to.equal(503);
      expect((await server.call('/api/contacts/search', { organization_id: 'org_a' })).status).to.equal(200);
      expect(server.output()).to.include('could not read 1 parts of its tables');
    } finally {
      await server.kill();
    }
  });

  it('are found by doctor --deep when a single byte changed', async () => {
    const healthy = await run(['doctor', '--deep'], { env: environment });
    expect(healthy.stdout)
      .to.include('The records store is intact')
      .and.include('The analytics store is intact');
    expect(healthy.code).to.equal(0);
    for (const file of files) {
      const bytes = readFileSync(file);
      const at = Math.floor(statSync(file).size / 2);
      bytes[at] = (bytes[at] as number) ^ 0xff;
      writeFileSync(file, bytes);
    }
    const { code, stdout } = await run(['doctor', '--deep'], { env: environment });
    expect(stdout).to.match(
      /✗ The analytics store is damaged \(creative_deliveries 202608_\S+: .+\): restore it from a backup/,
    );
    expect(code).to.equal(1);
  });
});
