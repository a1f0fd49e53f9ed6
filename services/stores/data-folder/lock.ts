import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureDir } from '../../shared/fs.js';
import { sql } from '../../shared/sql.js';
import { SqliteFile } from '../common/sqlite-file.js';
import { LockHeldError, toDataFolderError } from './errors.js';
import { ANALYTICS_FOLDER, isOwnName, LOCK_FILE, LOCK_OWNER_FILE, SEARCH_FILE } from './layout.js';
import { type LockOwner, writeLockOwner } from './lock-owner.js';

export interface FolderLock {
  /** Records the port of the gateway, so that commands find the gateway. */
  announcePort(port: number): void;
  release(): void;
}

/**
 * Locks the folder for this process, and creates a missing folder. The lock is an exclusive transaction on its own file, which the
 * operating system releases however the process ends. Throws `LockHeldError` if another process holds the lock, and `DataFolderError` if
 * the folder cannot be used.
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
  const owner: LockOwner = { pid: process.pid, since: new Date().toISOString() };
  let database: SqliteFile | undefined;
  try {
    database = new SqliteFile(join(folder, LOCK_FILE));
    database.exec(
      sql`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (at TEXT); COMMIT; BEGIN EXCLUSIVE`,
    );
  } catch (error) {
    database?.close();
    if (/locked|busy/i.test(String(error))) throw new LockHeldError(folder);
    throw toDataFolderError(folder, error);
  }
  try {
    writeLockOwner(folder, owner);
  } catch (error) {
    database.close();
    throw toDataFolderError(folder, error);
  }
  return {
    announcePort: (port) => writeLockOwner(folder, { ...owner, port }),
    release: () => database.close(),
  };
}

/**
 * Creates the folder, and denies other users access, because it contains personal data and hashes of keys. An existing folder with other
 * files keeps its permissions.
 */
export function makePrivate(folder: string): void {
  ensureDir(folder);
  const entries = readdirSync(folder);
  const own = [SEARCH_FILE, `${SEARCH_FILE}-wal`, `${SEARCH_FILE}-shm`, LOCK_FILE, LOCK_OWNER_FILE];
  if (entries.every(isOwnName)) restrict(folder, 0o700);
  for (const name of own) restrict(join(folder, name), 0o600);
  restrict(join(folder, ANALYTICS_FOLDER), 0o700);
}

/** Creates a file that only its user can read. For a database, SQLite gives its other files the same permissions. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}

function restrict(path: string, mode: number): void {
  try {
    if (existsSync(path)) chmodSync(path, mode);
  } catch {
    // Another user owns the folder, as with mounted volumes, and decides about its permissions.
  }
}
