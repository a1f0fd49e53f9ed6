import { join } from 'node:path';
import { readJson, writeJson } from '../../shared/fs.js';
import { LAST_BACKUP_FILE } from './layout.js';

/** The last complete backup of a data folder. */
export interface LastBackup {
  /** Time of the backup in ISO 8601. */
  taken_at: string;
  folder: string;
}

export const writeLastBackup = (dataDir: string, backup: LastBackup): void =>
  writeJson(join(dataDir, LAST_BACKUP_FILE), backup);

export const readLastBackup = (dataDir: string): LastBackup | null =>
  readJson<LastBackup>(join(dataDir, LAST_BACKUP_FILE));
