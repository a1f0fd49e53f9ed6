import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createBackup } from '../../../services/stores/backup/create-backup.js';
import { listenForFreezes } from '../../../services/stores/backup/freeze-socket.js';
import { verifyBackup } from '../../../services/stores/backup/restore-backup.js';
import { writeFolderId } from '../../../services/stores/data-folder/folder-id.js';
import { ANALYTICS_FOLDER, BACKUP_LINKS_FOLDER } from '../../../services/stores/data-folder/layout.js';
import { lockDataFolder } from '../../../services/stores/data-folder/lock.js';
import { openDatabase } from '../../../services/stores/sqlite/database.js';
import { tempFolder } from '../../support/temp-folder.js';

const PART = 'store/abc/00000000-0000-0000-0000-000000000000/all_1_1_0/data.bin';
const METADATA = 'store/abc/00000000-0000-0000-0000-000000000001/t.sql';
const used = { records: true, analytics: true };

describe('A backup taken beside a process that starts', () => {
  let dataDir: string;
  const inAnalytics = (path: string) => join(dataDir, ANALYTICS_FOLDER, path);
  beforeEach(async () => {
    dataDir = tempFolder();
    (await openDatabase(dataDir, 8)).close();
    writeFile(PART, 'rows');
    writeFile(METADATA, 'CREATE TABLE t');
    writeFolderId(dataDir, used);
  });
  function writeFile(path: string, text: string): void {
    mkdirSync(dirname(inAnalytics(path)), { recursive: true });
    writeFileSync(inAnalytics(path), text);
  }

  it('leaves the folder to a server as soon as it knows what to copy', async () => {
    const target = join(tempFolder(), 'b');
    let started = false;
    const onProgress = () => {
      if (started) return;
      started = true;
      const lock = lockDataFolder(dataDir);
      // As a server does: it merges parts away, and writes others.
      rmSync(inAnalytics(dirname(PART)), { recursive: true });
      writeFileSync(inAnalytics(METADATA), 'CREATE TABLE other');
      lock.release();
    };
    await createBackup({ dataDir, used, target, onProgress });
    expect(started).to.equal(true);
    await verifyBackup({ backup: target, onProgress: () => undefined });
    const copied = (path: string) => readFileSync(join(target, 'data', ANALYTICS_FOLDER, path), 'utf8');
    expect([copied(PART), copied(METADATA)]).to.deep.equal(['rows', 'CREATE TABLE t']);
    expect(readdirSync(join(dataDir, BACKUP_LINKS_FOLDER))).to.deep.equal([]);
  });

  it('removes the links of one that was killed, and those of no other', async () => {
    const links = join(dataDir, BACKUP_LINKS_FOLDER);
    mkdirSync(join(links, 'killed'), { recursive: true });
    const other = lockDataFolder(join(links, 'running'));
    try {
      await createBackup({ dataDir, used, target: join(tempFolder(), 'b'), onProgress: () => undefined });
      expect(readdirSync(links)).to.deep.equal(['running']);
    } finally {
      other.release();
    }
    const freeze = async () => undefined;
    const listener = await listenForFreezes(dataDir, freeze, (error) => expect.fail(String(error)));
    expect(readdirSync(links)).to.deep.equal([]);
    await listener.close();
  });

  it('waits for a process that holds the folder and does not listen yet', async () => {
    const lock = lockDataFolder(dataDir);
    let paused = 0;
    const freeze = async (name: string, work: () => Promise<void>) => {
      mkdirSync(inAnalytics(`shadow/${name}/store`), { recursive: true });
      paused++;
      await work();
    };
    const target = join(tempFolder(), 'b');
    const backup = createBackup({ dataDir, used, target, onProgress: () => undefined });
    // The backup made its first attempt in the call above or in the turns until here.
    await new Promise((resolve) => setImmediate(resolve));
    const listener = await listenForFreezes(dataDir, freeze, (error) => expect.fail(String(error)));
    await backup;
    expect(paused).to.equal(1);
    await listener.close();
    lock.release();
    expect(existsSync(join(target, 'backup.json'))).to.equal(true);
  });

  it('goes on by itself where that process ends before it listens', async () => {
    const lock = lockDataFolder(dataDir);
    const target = join(tempFolder(), 'b');
    const backup = createBackup({ dataDir, used, target, onProgress: () => undefined });
    await new Promise((resolve) => setImmediate(resolve));
    lock.release();
    expect((await backup).counts).to.deep.equal({ contacts: 0, audiences: 0, visits: 0 });
  });
});
