import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCK_OWNER_FILE } from './layout.js';

/** The process that holds the lock of a data folder, or held it last: the file outlives the lock. */
export interface LockOwner {
  pid: number;
  /** ISO 8601. */
  since: string;
  /** Of the gateway, once it listens. */
  port?: number;
}

const fileOf = (folder: string) => join(folder, LOCK_OWNER_FILE);

export function writeLockOwner(folder: string, holder: LockOwner): void {
  writeFileSync(fileOf(folder), JSON.stringify(holder), { mode: 0o600 });
}

/** Null when the file is missing or unreadable. */
export function readLockOwner(folder: string): LockOwner | null {
  try {
    return JSON.parse(readFileSync(fileOf(folder), 'utf8')) as LockOwner;
  } catch {
    return null;
  }
}
