import { existsSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sleep } from '../../shared/async.js';
import { ensureDir } from '../../shared/fs.js';
import { readVersion } from '../../shared/version.js';
import { LockHeldError } from '../data-folder/errors.js';
import { checkFolderId, readFolderId, type UsedStores } from '../data-folder/folder-id.js';
import { writeLastBackup } from '../data-folder/last-backup.js';
import {
  ANALYTICS_FOLDER,
  FROZEN_PARTS_FOLDER,
  LOCK_FILE,
  LOCK_OWNER_FILE,
  SEARCH_FILE,
} from '../data-folder/layout.js';
import { lockDataFolder, makePrivateFile } from '../data-folder/lock.js';
import { findOwner, resolveLinks } from '../data-folder/own-files.js';
import { DatabaseSnapshot } from '../sqlite/snapshot.js';
import { BackupError } from './errors.js';
import {
  CopiedFolders,
  copyFile,
  type FolderEntry,
  REMOVE_OPTIONS,
  requireSpace,
  syncPath,
  walk,
} from './files.js';
import { NotListeningError, requestFreeze } from './freeze-socket.js';
import { linkFiles } from './linked-files.js';
import {
  type BackupEntry,
  DATA_FOLDER,
  hasTooMany,
  knownMigrations,
  MANIFEST_FILE,
  type Manifest,
  manifestText,
} from './manifest.js';

export interface BackupOptions {
  dataDir: string;
  /** The stores in the data folder. */
  used: UsedStores;
  /** Folder for the backup: missing or empty. */
  target: string;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** Milliseconds that a backup waits for a starting process that holds the folder. */
const START_TIMEOUT_MS = 300_000;
const START_INTERVAL_MS = 250;

/** Free space for the write-ahead log and for writes during the backup. */
const MARGIN_BYTES = 64 * 1024 * 1024;

/**
 * Copies the stores of a data folder as of one moment. The backup has everything that was acknowledged before the call, and each batch
 * either completely or not at all. A process that holds the folder continues to serve, and pauses its writes for that moment. `target`
 * appears once all files are on disk. Throws `BackupError`, and passes on errors of the file system.
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { dataDir, target, used } = options;
  const folder = resolve(target);
  if (`${resolveLinks(folder)}/`.startsWith(`${resolveLinks(dataDir)}/`) || findOwner(folder) !== undefined) {
    throw new BackupError(`${folder} lies in the data folder, with which it would be lost. Name another.`);
  }
  requireFree(folder);
  if (![SEARCH_FILE, ANALYTICS_FOLDER].some((name) => existsSync(join(dataDir, name)))) {
    throw new BackupError(
      `The data folder ${resolve(dataDir)} holds no stores. Name another with REACHLINE_DATA_DIR.`,
    );
  }
  checkFolderId(dataDir, used);
  const partial = `${folder}.partial`;
  const lock = lockPartial(partial);
  try {
    // A backup that was killed may have left this folder.
    rmSync(join(partial, DATA_FOLDER), REMOVE_OPTIONS);
    requireSpace(partial, sizeOf(dataDir), 'name a folder on another disk');
    const manifest = await copyStores(options, partial);
    await syncPath(partial);
    renameSync(partial, folder);
    for (const name of [LOCK_FILE, LOCK_OWNER_FILE]) rmSync(join(folder, name), REMOVE_OPTIONS);
    await syncPath(folder);
    await syncPath(dirname(folder));
    writeLastBackup(dataDir, { taken_at: manifest.taken_at, folder });
    return manifest;
  } catch (error) {
    rmSync(partial, REMOVE_OPTIONS);
    throw error;
  } finally {
    lock.release();
  }
}

function requireFree(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) {
    ensureDir(dirname(folder));
    return;
  }
  if (!stats.isDirectory() || readdirSync(folder).length > 0) {
    throw new BackupError(
      `${folder} is not empty, and a backup never replaces another. Name a new folder, such as ${folder}-${new Date().toISOString().slice(0, 10)}.`,
    );
  }
  if (stats.dev !== statSync(dirname(folder)).dev) {
    throw new BackupError(
      `${folder} is where a disk is mounted. Name a folder below it, such as ${join(folder, new Date().toISOString().slice(0, 10))}.`,
    );
  }
}

function lockPartial(partial: string) {
  try {
    return lockDataFolder(partial);
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    throw new BackupError(
      `Another backup (process ${error.owner?.pid ?? 'unknown'}) is writing ${partial}. Wait for it, or name another folder.`,
    );
  }
}

/** An upper bound of the bytes of a backup: parts that are merged but not yet deleted count too. */
function sizeOf(dataDir: string): number {
  const bytesOf = (path: string) => statSync(join(dataDir, path), { throwIfNoEntry: false })?.size ?? 0;
  let bytes = MARGIN_BYTES + bytesOf(SEARCH_FILE);
  for (const { path, kind } of walk(
    join(dataDir, ANALYTICS_FOLDER),
    ({ path }) => path === FROZEN_PARTS_FOLDER,
  )) {
    if (kind === 'file') bytes += bytesOf(`${ANALYTICS_FOLDER}/${path}`);
  }
  return bytes;
}

/** A file to copy. `from` is the path to read. */
type Source = FolderEntry & { from: string };

async function copyStores({ dataDir, used, onProgress }: BackupOptions, partial: string): Promise<Manifest> {
  let snapshot: DatabaseSnapshot | undefined;
  let takenAt = '';
  const openSnapshot = async () => {
    takenAt = new Date().toISOString();
    if (used.records) snapshot = DatabaseSnapshot.open(join(dataDir, SEARCH_FILE));
  };
  let frozen: FrozenFiles | undefined;
  try {
    frozen = await freezeFiles(dataDir, used, openSnapshot);
    const { sources } = frozen;
    const total = sources.reduce(
      (sum, { from, kind }) => sum + (kind === 'file' ? statSync(from).size : 0),
      snapshot?.bytes ?? 0,
    );
    let done = 0;
    const onBytes = (bytes: number) => {
      done += bytes;
      onProgress(done, total);
    };
    const folders = new CopiedFolders();
    const data = join(partial, DATA_FOLDER);
    folders.create(data);
    const entries: BackupEntry[] = [];
    if (snapshot) entries.push(await copySnapshot(snapshot, join(data, SEARCH_FILE), onBytes));
    for (const source of sources) entries.push(await copySource(source, data, folders, onBytes));
    await folders.sync();
    if (hasTooMany(entries)) throw new BackupError('The data folder has more files than a backup takes.');
    const text = manifestText({
      reachline: readVersion().version,
      migrations: knownMigrations(),
      folder_id: readFolderId(dataDir) ?? null,
      taken_at: takenAt,
      counts: { ...snapshot?.counts() },
      bytes: done,
      entries,
    });
    writeFileSync(join(partial, MANIFEST_FILE), text, { mode: 0o600, flush: true });
    return JSON.parse(text) as Manifest;
  } finally {
    snapshot?.close();
    await frozen?.release();
  }
}

/** Files of ClickHouse that do not change until the backup releases them. */
interface FrozenFiles {
  sources: Source[];
  release(): Promise<void>;
}

/** Runs `work` while no process writes to the data folder: alone, or together with the process that holds the folder. */
async function freezeFiles(
  dataDir: string,
  { analytics }: UsedStores,
  work: () => Promise<void>,
): Promise<FrozenFiles> {
  const endsAt = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const held = holdFolder(dataDir);
    if (held) {
      try {
        await work();
        const linked = analytics ? linkFiles(dataDir, analyticsEntries(dataDir)) : undefined;
        const sources = linked ? [...analyticsFiles(linked.root, undefined)] : [];
        return { sources, release: async () => linked?.release() };
      } finally {
        held.release();
      }
    }
    try {
      const { name, release } = await requestFreeze(dataDir, work);
      try {
        return { sources: analytics ? [...analyticsFiles(dataDir, name)] : [], release };
      } catch (error) {
        await release();
        throw error;
      }
    } catch (error) {
      // A starting process listens once its stores are open, which migrations may delay. The process may also end before it listens.
      if (!(error instanceof NotListeningError) || performance.now() > endsAt) throw error;
      await sleep(START_INTERVAL_MS);
    }
  }
}

function* analyticsEntries(dataDir: string): Generator<FolderEntry> {
  for (const { path, kind } of analyticsFiles(dataDir, undefined)) yield { path, kind };
}

/** Locks the folder; undefined if another process holds it. */
function holdFolder(dataDir: string) {
  try {
    return lockDataFolder(dataDir);
  } catch (error) {
    if (error instanceof LockHeldError) return undefined;
    throw error;
  }
}

async function copySnapshot(
  snapshot: DatabaseSnapshot,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<BackupEntry> {
  makePrivateFile(to);
  let copied = 0;
  const copiedUpTo = (bytes: number) => {
    onBytes(bytes - copied);
    copied = bytes;
  };
  await snapshot.copyTo(to, (fraction) => copiedUpTo(Math.floor(snapshot.bytes * fraction)));
  copiedUpTo(snapshot.bytes);
  await syncPath(to);
  return { path: SEARCH_FILE, kind: 'file', ...(await copyFile(to, undefined, () => undefined)) };
}

/** Temporary entries of the running engine: caches, a lock, and parts frozen for a backup. */
const TEMPORARY_ENTRIES = new Set(['tmp', 'status', FROZEN_PARTS_FOLDER]);
/** Path of a part of a table, or of the folder with detached parts. */
const PART = /^store\/[^/]+\/[^/]+\/[^/]+$/;

/** Files of ClickHouse: the parts frozen under a name, or all files if no process has them open. */
function* analyticsFiles(dataDir: string, frozenName: string | undefined): Generator<Source> {
  const folder = join(dataDir, ANALYTICS_FOLDER);
  if (!existsSync(folder)) return;
  const skip = ({ path, kind }: FolderEntry) =>
    TEMPORARY_ENTRIES.has(path) ||
    // The hard links to these parts are copied below, because the original parts may be deleted at any time.
    (frozenName !== undefined && kind === 'folder' && PART.test(path) && !path.endsWith('/detached')) ||
    (frozenName !== undefined && path.includes('/detached/'));
  const inFolder = (root: string) => (entry: FolderEntry) => ({
    ...entry,
    from: join(root, entry.path),
    path: `${ANALYTICS_FOLDER}/${entry.path}`,
  });
  for (const entry of walk(folder, skip)) yield inFolder(folder)(entry);
  if (frozenName === undefined) return;
  const frozen = join(folder, FROZEN_PARTS_FOLDER, frozenName);
  // The table of migrations always has parts.
  if (!existsSync(frozen)) throw new BackupError('ClickHouse has frozen no parts. Try again.');
  for (const entry of walk(frozen, ({ path }) => !/^store(\/|$)/.test(path))) {
    if (entry.kind === 'file') yield inFolder(frozen)(entry);
  }
}

async function copySource(
  { path, kind, from }: Source,
  data: string,
  folders: CopiedFolders,
  onBytes: (bytes: number) => void,
): Promise<BackupEntry> {
  if (kind === 'link') return { path, kind, target: readlinkSync(from) };
  if (kind === 'folder') return { path, kind };
  const to = join(data, path);
  folders.create(dirname(to));
  return { path, kind, ...(await copyFile(from, to, onBytes)) };
}
