/** Names in a data folder: its stores, its lock, and who holds the lock. */
export const SEARCH_FILE = 'reachline.db';
export const ANALYTICS_FOLDER = 'clickhouse';
export const LOCK_FILE = 'lock.db';
export const LOCK_OWNER_FILE = 'holder.json';
