import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { ensureDir } from '../../shared/fs.js';
import { ANALYTICS_FOLDER, LOCK_FILE, LOCK_OWNER_FILE, SEARCH_FILE } from './layout.js';
import { type LockOwner, readLockOwner, writeLockOwner } from './lock-owner.js';

export interface FolderLock {
  /** Lets others find the gateway that has the folder. */
  announcePort(port: number): void;
  release(): void;
}

/** The data folder cannot be used. The message says what to do about it. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

/**
 * Makes this process the only one that serves the folder. The lock is an exclusive transaction on a file of its own, which the
 * operating system lets go of however the process ends, so a crash needs no clean-up.
 */
export function lockDataFolder(dataDir: string): FolderLock {
  const folder = resolve(dataDir);
  try {
    makePrivate(folder);
    accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
    makePrivateFile(join(folder, LOCK_FILE));
  } catch (error) {
    throw toDataFolderError(folder, error);
  }
  const holder: LockOwner = { pid: process.pid, since: new Date().toISOString() };
  let database: InstanceType<typeof DatabaseSync>;
  try {
    database = new DatabaseSync(join(folder, LOCK_FILE));
    database.exec(
      'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (at TEXT); COMMIT; BEGIN EXCLUSIVE',
    );
  } catch (error) {
    if (/locked|busy/i.test(String(error))) {
      throw new DataFolderError(
        `The data folder ${folder} is in use by another Reachline process${describeOwner(folder)}. Stop that one, name another folder with REACHLINE_DATA_DIR, or send records through it with --url.`,
      );
    }
    throw toDataFolderError(folder, error);
  }
  try {
    writeLockOwner(folder, holder);
  } catch (error) {
    database.close();
    throw toDataFolderError(folder, error);
  }
  return {
    announcePort: (port) => writeLockOwner(folder, { ...holder, port }),
    release: () => database.close(),
  };
}

/**
 * Makes the folder, and lets no other user of the machine read what is in it: personal data and hashes of keys. A folder that
 * holds other things as well keeps its own permissions.
 */
export function makePrivate(folder: string): void {
  ensureDir(folder);
  const entries = readdirSync(folder);
  const own = [SEARCH_FILE, `${SEARCH_FILE}-wal`, `${SEARCH_FILE}-shm`, LOCK_FILE, LOCK_OWNER_FILE];
  const known = new Set([...own, `${LOCK_FILE}-journal`, ANALYTICS_FOLDER]);
  if (entries.every((name) => known.has(name))) close(folder, 0o700);
  for (const name of own) close(join(folder, name), 0o600);
  close(join(folder, ANALYTICS_FOLDER), 0o700);
}

/** Makes a file that its user alone can read, unless it is there. What SQLite writes beside a database has its permissions. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}

function close(path: string, mode: number): void {
  try {
    if (existsSync(path)) chmodSync(path, mode);
  } catch {
    // Of another user, as mounted volumes are: then it is theirs to decide.
  }
}

function describeOwner(folder: string): string {
  const holder = readLockOwner(folder);
  if (!holder) return '';
  const { pid, since, port } = holder;
  return ` (process ${pid}, since ${since}${port === undefined ? '' : `, on port ${port}`})`;
}

/** The error that tells whoever starts a process what to do about a folder, given what a file system or a store said. */
export function toDataFolderError(dataDir: string, cause: unknown): DataFolderError {
  const { code } = cause as NodeJS.ErrnoException;
  const folder = resolve(dataDir);
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new DataFolderError(
      `The data folder ${folder} is, or lies below, a file. Name a folder with REACHLINE_DATA_DIR.`,
      { cause },
    );
  }
  return new DataFolderError(
    `The data folder ${folder} cannot be used (${reason(cause)}). Check its permissions and the free space of its disk, or name another with REACHLINE_DATA_DIR.`,
    { cause },
  );
}

const REASON_LENGTH = 160;
const REASONS: Partial<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOENT: 'it cannot be made',
};

/** In a few words, from where the trouble began. */
function reason(error: unknown): string {
  let origin = error;
  while (origin instanceof Error && origin.cause !== undefined) origin = origin.cause;
  const { code = '', message } = origin as NodeJS.ErrnoException;
  if (/^E[A-Z]+$/.test(code)) return REASONS[code] ?? code;
  const [line = ''] = String(message ?? origin).split('\n');
  const text = line.replaceAll(/Code: \d+\. DB::Exception: /g, '').replace(/\.? \([A-Z_]+\).*$/, '');
  return text.length > REASON_LENGTH ? `${text.slice(0, REASON_LENGTH)}…` : text;
}
