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
