import { join } from 'node:path';
import { readJson, writeJson } from '../../shared/fs.js';
import { LOCK_OWNER_FILE } from './layout.js';

/** The process that holds or last held the lock of a data folder, because the file outlives the lock. */
export interface LockOwner {
  pid: number;
  /** Time since which the process holds the lock, in ISO 8601. */
  since: string;
  /** Port of the gateway; present once the gateway listens. */
  port?: number;
}

export const writeLockOwner = (folder: string, owner: LockOwner): void =>
  writeJson(join(folder, LOCK_OWNER_FILE), owner);

export const readLockOwner = (folder: string): LockOwner | null =>
  readJson<LockOwner>(join(folder, LOCK_OWNER_FILE));
