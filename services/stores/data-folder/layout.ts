import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Names of files and folders in a data folder. */
export const SEARCH_FILE = 'reachline.db';
export const ANALYTICS_FOLDER = 'clickhouse';
export const LOCK_FILE = 'lock.db';
export const LOCK_OWNER_FILE = 'holder.json';
/** Socket of the process that holds the folder. A backup uses it to pause writes. */
export const FREEZE_SOCKET = 'freeze.sock';
/** Folder that contains a lock for each command that only one process at a time may run. */
export const COMMANDS_FOLDER = 'commands';
/** File that says when the last backup of the folder was taken, and where that backup is. */
export const LAST_BACKUP_FILE = 'last-backup.json';
/** Folder with the files of an unfinished restore. */
export const PARTIAL_RESTORE_FOLDER = 'restore.partial';
/** Folder that contains a folder of hard links for each backup that began while no process had the data folder open. */
export const BACKUP_LINKS_FOLDER = 'backup.links';
/** Folder of ClickHouse with hard links to the parts of tables, for a backup. */
export const FROZEN_PARTS_FOLDER = 'shadow';

/** File that says when a process with a plausible clock last had the folder open. */
export const TIME_FILE = 'last-time.json';

/** Suffixes of files that SQLite writes beside its databases, and of unfinished notes. */
const SUFFIX = /(?:-(?:wal|shm|journal)|\.new)$/;

const OWN_NAMES: ReadonlySet<string> = new Set([
  SEARCH_FILE,
  ANALYTICS_FOLDER,
  LOCK_FILE,
  LOCK_OWNER_FILE,
  FREEZE_SOCKET,
  COMMANDS_FOLDER,
  LAST_BACKUP_FILE,
  TIME_FILE,
  PARTIAL_RESTORE_FOLDER,
  BACKUP_LINKS_FOLDER,
]);

/** Whether the name of an entry in a data folder belongs to Reachline. Ignores case. */
export const isOwnName = (name: string): boolean => OWN_NAMES.has(name.toLowerCase().replace(SUFFIX, ''));

/** Whether a folder is a data folder, or a copy of one in a backup. */
export const hasStores = (folder: string): boolean =>
  [SEARCH_FILE, LOCK_FILE, PARTIAL_RESTORE_FOLDER].some((name) => existsSync(join(folder, name)));
