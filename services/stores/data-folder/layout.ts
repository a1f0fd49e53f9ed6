/** The stores of a data folder, and what says who holds it. */
export const SEARCH_FILE = 'reachline.db';
export const ANALYTICS_FOLDER = 'clickhouse';
export const LOCK_FILE = 'lock.db';
export const LOCK_OWNER_FILE = 'holder.json';
