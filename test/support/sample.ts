/** The sample data in data folders: loaded once for each day and build, and copied for each test that uses it. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadDemo } from '../../services/demo/load.js';
import { ensureDir, packageRoot } from '../../services/shared/fs.js';
import { utcDate } from '../../services/shared/time.js';
import { LockHeldError } from '../../services/stores/data-folder/errors.js';
import { lockDataFolder } from '../../services/stores/data-folder/lock.js';
import { openStores } from '../../services/stores/open-stores.js';
import { tempFolder } from './temp-folder.js';

const PREPARED = join(packageRoot, 'dist/samples');

/** Suffix of this build: another build may store the sample in another form. */
const suffix = () => `-${Math.floor(statSync(join(packageRoot, 'dist/.built-tests')).mtimeMs)}`;

/** A data folder of the test's own with the sample as of `now`, whose last day is the day before. */
export async function sampleFolder(now = Date.now()): Promise<string> {
  const prepared = join(PREPARED, `${utcDate(now)}${suffix()}`);
  while (!existsSync(prepared)) await prepare(prepared, now);
  const copy = join(tempFolder(), 'data');
  // `cp` takes a tenth of the processor time that Node.js takes for the 400 files.
  await promisify(execFile)('cp', ['-R', prepared, copy]);
  return copy;
}

/** One process loads the sample for all test processes. */
async function prepare(prepared: string, now: number): Promise<void> {
  ensureDir(PREPARED);
  try {
    const lock = lockDataFolder(PREPARED);
    await load(prepared, now).finally(() => lock.release());
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    await pause(100);
  }
}

async function load(prepared: string, now: number): Promise<void> {
  if (existsSync(prepared)) return;
  for (const old of readdirSync(PREPARED).filter((name) => /^\d/.test(name) && !name.endsWith(suffix())))
    rmSync(join(PREPARED, old), { recursive: true, force: true });
  const folder = await mkdtemp(join(PREPARED, 'loading-'));
  const stores = await openStores({ dataDir: join(folder, 'data'), searchProcesses: 1 });
  try {
    await loadDemo(stores, { now });
  } finally {
    await stores.close();
  }
  await rename(join(folder, 'data'), prepared);
  await rm(folder, { recursive: true });
}
