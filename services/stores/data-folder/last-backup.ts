import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAST_BACKUP_FILE } from './layout.js';

/** The last complete backup of a data folder. */
export interface LastBackup {
  /** ISO 8601. */
  taken_at: string;
  folder: string;
}

export function writeLastBackup(dataDir: string, backup: LastBackup): void {
  writeFileSync(join(dataDir, LAST_BACKUP_FILE), JSON.stringify(backup), { mode: 0o600 });
}

/** Null when there was none, or the file is unreadable. */
export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, LAST_BACKUP_FILE), 'utf8')) as LastBackup;
  } catch {
    return null;
  }
}
