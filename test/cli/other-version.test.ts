import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import { temporaryFolder } from '../support/gateway.js';
import { run, runProcess } from './support.js';

describe('A data folder of another version', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let dataDir: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, 'data');
    expect(await run(['migrate'], { env: { REACHLINE_DATA_DIR: dataDir } })).to.include({ code: 0 });
  });
  afterEach(() => folder.remove());

  const expectRejected = async (...commands: string[][]) => {
    for (const command of commands) {
      const runIt = command[0] === 'serve' ? runProcess : run;
      const { code, stdout, stderr } = await runIt(command, { env: { REACHLINE_DATA_DIR: dataDir } });
      expect({ command, code }).to.deep.equal({ command, code: 1 });
      expect(stdout + stderr).to.match(/created by another version of Reachline .* cannot upgrade/);
      expect(stdout + stderr).to.contain('name an empty folder with REACHLINE_DATA_DIR and load the records');
      expect(stderr).to.not.contain(' at ');
    }
  };

  it('is rejected for its contacts, in one sentence that says what to do', async () => {
    const database = new DatabaseSync(join(dataDir, 'reachline.db'));
    database.exec(`UPDATE schema_migrations SET sha256 = 'other' WHERE name LIKE '%contacts%'`);
    database.close();
    const file = join(folder.path, 'none.ndjson');
    await writeFile(file, '');
    const ingest = ['ingest', 'contacts', file];
    await expectRejected(['migrate'], ['serve', '--port', '0'], ['keys', 'list'], ingest, ['doctor']);
  });

  it('is rejected for its advertising, in one sentence that says what to do', async () => {
    const clickhouse = await openClickHouse({ path: join(dataDir, 'clickhouse') });
    await clickhouse.command('test', 'TRUNCATE TABLE schema_migrations');
    await clickhouse.command(
      'test',
      `INSERT INTO schema_migrations VALUES ('0001_create_campaigns.sql', 'other')`,
    );
    await clickhouse.close();
    await expectRejected(['migrate'], ['serve', '--port', '0']);
  });
});
