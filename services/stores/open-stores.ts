import { join } from 'node:path';
import type { Config } from '../shared/config.js';
import type { AnalyticsStore } from './analytics-store.js';
import { openAnalyticsStore } from './clickhouse/store.js';
import { cannotBeUsed, lockDataFolder } from './data-folder.js';
import type { SearchStore } from './search-store.js';
import { openSqliteStore } from './sqlite/sqlite-store.js';
import { StoreUnavailable } from './store-error.js';

/** Both stores of a process, opened and migrated. */
export interface Stores {
  search: SearchStore;
  analytics: AnalyticsStore;
  /** Finishes what is running and lets go of the data folder. */
  close(): Promise<void>;
}

/** Opens the embedded stores. Throws `DataFolderError` when the folder cannot be used or another process holds it. */
export async function openStores(config: Pick<Config, 'dataDir' | 'searchThreads'>): Promise<Stores> {
  const lock = lockDataFolder(config.dataDir);
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const store of opened.reverse()) await store.close();
    lock.release();
  };
  try {
    const search = await openSqliteStore(config);
    opened.push(search);
    const folder = join(config.dataDir, 'clickhouse');
    const analytics = await openAnalyticsStore({ path: folder });
    opened.push(analytics);
    return { search, analytics, close };
  } catch (error) {
    await close();
    throw error instanceof StoreUnavailable || isSystemError(error)
      ? cannotBeUsed(config.dataDir, error)
      : error;
  }
}

const isSystemError = (error: unknown) => error instanceof Error && 'errno' in error;
