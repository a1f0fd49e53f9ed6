import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOLDER_FILE } from './layout.js';

/** The process that has a data folder locked, or had it last: the file outlives the lock. */
export interface FolderHolder {
  pid: number;
  /** ISO 8601. */
  since: string;
  /** Of the gateway, once it listens. */
  port?: number;
}

const fileOf = (folder: string) => join(folder, HOLDER_FILE);

export function writeHolder(folder: string, holder: FolderHolder): void {
  writeFileSync(fileOf(folder), JSON.stringify(holder), { mode: 0o600 });
}

/** Null where there is none, or none that can be read. */
export function readHolder(folder: string): FolderHolder | null {
  try {
    return JSON.parse(readFileSync(fileOf(folder), 'utf8')) as FolderHolder;
  } catch {
    return null;
  }
}
