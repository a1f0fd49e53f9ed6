import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  ANALYTICS_FOLDER,
  LOCK_FILE,
  LOCK_OWNER_FILE,
  PARTIAL_RESTORE_FOLDER,
  SEARCH_FILE,
  TIME_FILE,
} from '../data-folder/layout.js';
import { lockDataFolder } from '../data-folder/lock.js';
import { writeTime } from '../data-folder/time-note.js';
import { renewChangeEpoch } from '../sqlite/change-counter.js';
import { type AdoptedErasures, adoptErasures } from '../sqlite/erasure/adopt.js';
import { BackupError } from './errors.js';
import { CopiedFolders, copyFile, irregularity, REMOVE_OPTIONS, requireSpace, syncPath } from './files.js';
import { type BackupEntry, DATA_FOLDER, holdsSearch, type Manifest, readManifest } from './manifest.js';

export interface RestoreOptions {
  backup: string;
  /** Folder into which the backup is restored; missing or empty. */
  dataDir: string;
  /** Newer data folder or backup, whose erasures are applied to the restored data. */
  suppressionsFrom?: string;
  onProgress(doneBytes: number, totalBytes: number): void;
}

export interface RestoreResult extends Manifest {
  /** Effects of the erasures in `suppressionsFrom`. */
  adopted: AdoptedErasures;
}

/**
 * Restores a backup into an empty data folder. No process can open the folder before all files are there and match the manifest. Throws a
 * `BackupError` with the reason, `DataFolderError`, and errors of the file system.
 */
export async function restoreBackup({
  backup,
  dataDir,
  suppressionsFrom,
  onProgress,
}: RestoreOptions): Promise<RestoreResult> {
  const manifest = readManifest(backup);
  requireFiles(backup, manifest);
  if (suppressionsFrom !== undefined && !holdsSearch(manifest)) {
    throw new BackupError(
      `The backup ${resolve(backup)} holds no contacts, which were in Elasticsearch: leave --suppressions-from out.`,
    );
  }
  const list = suppressionsFrom === undefined ? undefined : findDatabase(suppressionsFrom);
  const folder = resolve(dataDir);
  const lock = lockDataFolder(folder);
  try {
    const partial = join(folder, PARTIAL_RESTORE_FOLDER);
    // A restore that was killed left this mark. A restore begins in an empty folder that no other process opens, so the other files are
    // from the killed restore too.
    if (existsSync(partial)) {
      for (const name of [SEARCH_FILE, ANALYTICS_FOLDER, TIME_FILE])
        rmSync(join(folder, name), REMOVE_OPTIONS);
    }
    requireEmpty(folder);
    rmSync(partial, REMOVE_OPTIONS);
    requireSpace(folder, manifest.bytes, 'name another folder with --data');
    mkdirSync(partial, { mode: 0o700 });
    let adopted: AdoptedErasures = { erasures: 0, removed: 0, changed: 0 };
    try {
      await copyEntries(backup, manifest, partial, onProgress);
      renewChangeEpoch(join(partial, SEARCH_FILE));
      writeTime(join(partial, TIME_FILE), Date.parse(manifest.taken_at));
      if (list !== undefined) {
        adopted = await adoptErasures(partial, list, Date.now());
        await syncPath(join(partial, SEARCH_FILE));
      }
    } catch (error) {
      rmSync(partial, REMOVE_OPTIONS);
      throw error;
    }
    await syncPath(folder);
    for (const name of readdirSync(partial)) renameSync(join(partial, name), join(folder, name));
    await syncPath(folder);
    rmSync(partial, { recursive: true });
    await syncPath(folder);
    return { ...manifest, adopted };
  } finally {
    lock.release();
  }
}

/** Reads a whole backup and compares it with its manifest. Throws a `BackupError` that names the difference. */
export async function verifyBackup({
  backup,
  onProgress,
}: Pick<RestoreOptions, 'backup' | 'onProgress'>): Promise<Manifest> {
  const manifest = readManifest(backup);
  requireFiles(backup, manifest);
  await copyEntries(backup, manifest, undefined, onProgress);
  return manifest;
}

const damaged = (backup: string, path: string, what: string) =>
  new BackupError(
    `The backup ${resolve(backup)} is damaged: ${DATA_FOLDER}/${path} ${what}. Use another backup.`,
  );

/** Throws, before anything is written, if the backup is incomplete or has links that lead elsewhere. */
function requireFiles(backup: string, { entries }: Manifest): void {
  const folders = new Set<string>();
  for (const entry of entries) {
    if (entry.kind !== 'file') continue;
    requireFolders(backup, dirname(entry.path), folders);
    const stats = lstatSync(join(backup, DATA_FOLDER, entry.path), { throwIfNoEntry: false });
    if (!stats) throw damaged(backup, entry.path, 'is missing');
    const irregular = irregularity(stats);
    if (irregular !== null) throw damaged(backup, entry.path, irregular);
    if (stats.size !== entry.bytes) {
      throw damaged(backup, entry.path, `has ${stats.size} bytes instead of ${entry.bytes}`);
    }
  }
}

/** Checks that every folder above a file is a folder, not a link to a folder. `known` holds folders that were checked already. */
function requireFolders(backup: string, path: string, known: Set<string>): void {
  if (known.has(path)) return;
  known.add(path);
  if (path !== '.') requireFolders(backup, dirname(path), known);
  const stats = lstatSync(join(backup, DATA_FOLDER, path), { throwIfNoEntry: false });
  if (!stats) throw damaged(backup, path, 'is missing');
  if (!stats.isDirectory()) throw damaged(backup, path, 'is a link or a file, not a folder');
}

/** Path of the database of a data folder or backup. */
function findDatabase(folder: string): string {
  const found = ['.', DATA_FOLDER]
    .map((name) => join(folder, name, SEARCH_FILE))
    .find((path) => existsSync(path));
  if (found === undefined) {
    throw new BackupError(
      `${resolve(folder)} is neither a data folder nor a backup: it holds no ${SEARCH_FILE}.`,
    );
  }
  return found;
}

function requireEmpty(folder: string): void {
  const own = new Set([LOCK_FILE, `${LOCK_FILE}-journal`, LOCK_OWNER_FILE, PARTIAL_RESTORE_FOLDER]);
  const [other] = readdirSync(folder).filter((name) => !own.has(name));
  if (other === undefined) return;
  throw new BackupError(
    `The data folder ${folder} is not empty (${other}), and a restore replaces nothing. Move what is there away, or name another folder with --data.`,
  );
}

/** Copies the entries of a backup and compares their checksums. Without `to`, only compares. */
async function copyEntries(
  backup: string,
  { entries, bytes: total }: Manifest,
  to: string | undefined,
  onProgress: RestoreOptions['onProgress'],
): Promise<void> {
  const folders = new CopiedFolders();
  let done = 0;
  const onBytes = (bytes: number) => {
    done += bytes;
    onProgress(done, total);
  };
  const copy = async (entry: BackupEntry) => {
    const target = to === undefined ? undefined : join(to, entry.path);
    if (target !== undefined) folders.create(entry.kind === 'folder' ? target : dirname(target));
    if (entry.kind === 'link' && target !== undefined) symlinkSync(entry.target, target);
    if (entry.kind !== 'file') return;
    const { sha256 } = await copyFile(join(backup, DATA_FOLDER, entry.path), target, onBytes);
    if (sha256 !== entry.sha256) throw damaged(backup, entry.path, 'has changed since the backup');
  };
  for (const entry of entries) await copy(entry);
  await folders.sync();
}
