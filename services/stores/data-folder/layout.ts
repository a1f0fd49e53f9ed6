import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Names in a data folder. */
export const SEARCH_FILE = 'reachline.db';
export const ANALYTICS_FOLDER = 'clickhouse';
export const LOCK_FILE = 'lock.db';
export const LOCK_OWNER_FILE = 'holder.json';
/** Socket of the process that holds the folder, through which a backup pauses its writes. */
export const FREEZE_SOCKET = 'freeze.sock';
/** Holds a lock for each command that one process at a time may run. */
export const COMMANDS_FOLDER = 'commands';
/** Says when the last backup of the folder was taken, and where it is. */
export const LAST_BACKUP_FILE = 'last-backup.json';
/** Holds what a restore has written until all of it is there. */
export const PARTIAL_RESTORE_FOLDER = 'restore.partial';
/** Holds a folder of hard links for each backup that began while no process had the data folder. */
export const BACKUP_LINKS_FOLDER = 'backup.links';
/** In the folder of ClickHouse: hard links to the parts of tables, for a backup. */
export const FROZEN_PARTS_FOLDER = 'shadow';

/** Says when a process with a believable clock last had the folder open. */
export const TIME_FILE = 'last-time.json';

/** Files of SQLite beside its databases, and of a note that is being written. */
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

/** Whether an entry of a data folder is one of Reachline, in whatever case. */
export const isOwnName = (name: string): boolean => OWN_NAMES.has(name.toLowerCase().replace(SUFFIX, ''));

/** Whether a folder is a data folder, or the copy of one in a backup. */
export const hasStores = (folder: string): boolean =>
  [SEARCH_FILE, LOCK_FILE, PARTIAL_RESTORE_FOLDER].some((name) => existsSync(join(folder, name)));
