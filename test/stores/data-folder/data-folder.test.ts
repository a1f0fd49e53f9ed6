import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { monthAt } from '../../../services/shared/month.js';
import { readDeliveryCounts } from '../../../services/status/advertising-counts.js';
import { DataFolderError } from '../../../services/stores/data-folder/errors.js';
import { openStores } from '../../../services/stores/open-stores.js';
import { checkIntegrity } from '../../../services/stores/sqlite/integrity.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { run } from '../../cli/support.js';
import { tempFolder } from '../../support/temp-folder.js';

const open = (dataDir: string) => openStores({ dataDir, searchProcesses: 1 });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** The error of opening the folder. */
async function openingError(dataDir: string): Promise<DataFolderError> {
  const error = await open(dataDir).then(
    (stores) => stores.close().then(() => undefined),
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(DataFolderError);
  return error as DataFolderError;
}

async function createFolder(): Promise<string> {
  const dataDir = join(tempFolder(), 'data');
  await (await open(dataDir)).close();
  return dataDir;
}

let created: Promise<string> | undefined;
/** A newly created folder; each test gets a copy. */
async function copyFolder(): Promise<string> {
  created ??= createFolder();
  const dataDir = join(tempFolder(), 'data');
  cpSync(await created, dataDir, { recursive: true });
  return dataDir;
}

describe('A data folder', () => {
  describe('whatever the mask of file modes', () => {
    let mask: number;
    beforeEach(() => {
      mask = process.umask(0o022);
    });
    afterEach(() => void process.umask(mask));

    it('is readable by its user only, with all its files, and the mask stays', async () => {
      const dataDir = await createFolder();
      expect(process.umask()).to.equal(0o022);
      expect(modeOf(dataDir)).to.equal('700');
      for (const name of readdirSync(dataDir)) {
        const path = join(dataDir, name);
        expect(modeOf(path), name).to.equal(statSync(path).isDirectory() ? '700' : '600');
      }
    });

    for (const [how, other, mode] of [
      ['loses the permissions of other users when it is opened', 'reachline.db', '700'],
      ['keeps its permissions when it holds other files too', 'letter.txt', '755'],
    ] as const) {
      it(how, async () => {
        const dataDir = join(tempFolder(), 'data');
        mkdirSync(dataDir);
        writeFileSync(join(dataDir, other), '');
        expect(modeOf(dataDir)).to.equal('755');
        await (await open(dataDir)).close();
        expect(modeOf(dataDir)).to.equal(mode);
        expect(modeOf(join(dataDir, 'reachline.db'))).to.equal('600');
      });
    }
  });

  it('gets its analytics store with the first use of it where that opens on demand, and none for a backup', async () => {
    const dataDir = join(tempFolder(), 'data');
    const openOnDemand = () => openStores({ dataDir, searchProcesses: 1 }, { analyticsOnDemand: 'new' });
    const folder = join(dataDir, 'clickhouse');
    await (await openOnDemand()).close();
    expect(existsSync(folder)).to.equal(false);
    const env = { REACHLINE_DATA_DIR: dataDir };
    const stopped = join(tempFolder(), 'stopped');
    expect(await run(['backup', stopped], { env })).to.include({ code: 0 });
    expect((await run(['restore', stopped, '--dry-run'], { env })).stdout).to.include('is intact');
    const stores = await openOnDemand();
    const held = join(tempFolder(), 'held');
    const backup = await run(['backup', held], { env });
    expect(backup.code, backup.stderr).to.equal(0);
    await stores.analytics.ping();
    expect(await stores.analytics.dropDeliveriesBefore(monthAt(Date.UTC(2026, 0)))).to.deep.equal([]);
    const count = () =>
      readDeliveryCounts(stores.analytics, 'org_a').then(({ records, lastDate }) => ({ records, lastDate }));
    const none = { records: 0, lastDate: null };
    expect(await count()).to.deep.equal(none);
    expect(existsSync(folder)).to.equal(false);
    await stores.analytics.insertCampaigns([]);
    expect(existsSync(folder)).to.equal(true);
    expect(await count()).to.deep.equal(none);
    await stores.close();
    const reopened = await openOnDemand();
    expect(reopened.analytics.isEmpty).to.equal(undefined);
    await reopened.close();
    rmSync(folder, { recursive: true });
    expect((await openingError(dataDir)).message).to.match(/clickhouse\/ .* is missing or empty/);
  });

  it('is opened under a path that is too long for a socket', async () => {
    const dataDir = join(tempFolder(), 'x'.repeat(120));
    const stores = await open(dataDir);
    expect(readdirSync(dataDir)).not.to.include('freeze.sock');
    await stores.close();
  });

  for (const [how, lose] of [
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => truncateSync(path)],
  ] as const) {
    it(`is rejected when its database file is ${how} beside the analytics store`, async () => {
      const dataDir = await copyFolder();
      lose(join(dataDir, 'reachline.db'));
      expect((await openingError(dataDir)).message).to.match(
        /^reachline\.db .* missing or empty.* Put it back/,
      );
      const accounts = await openSqliteStore({ dataDir, searchProcesses: 1 }).catch(
        (error: unknown) => error,
      );
      expect(accounts).to.be.instanceOf(DataFolderError);
    });
  }

  it('is rejected when the database exists and its analytics store is missing or empty', async () => {
    const dataDir = await copyFolder();
    rmSync(join(dataDir, 'clickhouse'), { recursive: true });
    expect((await openingError(dataDir)).message).to.match(/^clickhouse\/ .* missing or empty/);
    mkdirSync(join(dataDir, 'clickhouse'));
    expect((await openingError(dataDir)).message).to.match(/^clickhouse\/ .* missing or empty/);
  });

  it('is rejected when its stores come from two folders', async () => {
    const [dataDir, other] = [await createFolder(), await copyFolder()];
    for (const suffix of ['', '-wal', '-shm']) {
      const [from, to] = [other, dataDir].map((folder) => join(folder, `reachline.db${suffix}`)) as [
        string,
        string,
      ];
      rmSync(to, { force: true });
      if (existsSync(from)) cpSync(from, to);
    }
    expect((await openingError(dataDir)).message).to.include('do not belong together');
  });

  it('starts empty once both stores are gone', async () => {
    const dataDir = await copyFolder();
    rmSync(join(dataDir, 'reachline.db'));
    rmSync(join(dataDir, 'clickhouse'), { recursive: true });
    await (await open(dataDir)).close();
    await (await open(dataDir)).close();
  });

  it('accepts a second store that was on a server before', async () => {
    const dataDir = join(tempFolder(), 'data');
    await (await openSqliteStore({ dataDir, searchProcesses: 1 })).close();
    await (await open(dataDir)).close();
    await (await open(dataDir)).close();
  });

  it('reports damage of its database when it is checked, and nothing when it is whole', async () => {
    const dataDir = await copyFolder();
    expect(checkIntegrity(dataDir)).to.deep.equal([]);
    const path = join(dataDir, 'reachline.db');
    const database = new DatabaseSync(path);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    truncateSync(path, statSync(path).size - 3 * 4096);
    expect(checkIntegrity(dataDir).join()).to.match(/malformed|page|disk image/);
  });
});
