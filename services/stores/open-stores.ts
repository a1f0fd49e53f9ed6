import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnalyticsStore } from '../advertising/analytics-store.js';
import type { Config } from '../shared/config.js';
import { type StoreName, StoreUnavailableError } from '../shared/store-errors.js';
import { type Clock, systemClock } from '../shared/time.js';
import type { Engine } from './clickhouse/engine.js';
import { openAnalyticsStore } from './clickhouse/store.js';
import type { SearchStore } from './common/search-store.js';
import { ANALYTICS_FOLDER } from './data-folder/layout.js';
import type { FolderLock } from './data-folder/lock.js';
import type { ElasticsearchStoreOptions } from './elasticsearch/store.js';
import { loadSqlite } from './sqlite/load.js';

/** Both stores of a process, opened and migrated. */
export interface Stores {
  search: SearchStore;
  analytics: AnalyticsStore;
  /** Of the embedded analytics store; null where a server holds the data. Not to be used once the stores close. */
  engine: Engine | null;
  /** Notes in the data folder, where there is one, on which port this process serves it. */
  announcePort(port: number): void;
  /** Finishes what is running and lets go of the data folder. */
  close(): Promise<void>;
}

export type StoresConfig = Pick<Config, 'dataDir' | 'searchThreads'> &
  Partial<Pick<Config, 'elasticsearch' | 'clickhouse'>>;

/** What a process that is to stay does while a server it needs is not up yet. */
export interface StartupRetryOptions {
  timeoutMs: number;
  onRetry(store: StoreName): void;
}

export interface OpenStoresOptions {
  startupRetry?: StartupRetryOptions;
  clock?: Clock;
  /** For what stores do in the background. */
  log?: ElasticsearchStoreOptions['log'];
}

const RETRY_INTERVAL_MS = 1000;

/**
 * Opens each store where the settings say it is. Throws `DataFolderError` when an embedded one cannot use the data folder or
 * another process holds it, and `StoreUnavailableError` when a server does not answer.
 */
export async function openStores(
  config: StoresConfig,
  { startupRetry, clock = systemClock, log }: OpenStoresOptions = {},
): Promise<Stores> {
  const { elasticsearch, clickhouse, dataDir } = config;
  const used = { search: !elasticsearch, analytics: !clickhouse };
  const lock = elasticsearch && clickhouse ? null : await lockFolder(dataDir);
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const store of opened.reverse()) await store.close();
    lock?.release();
  };
  try {
    const marks = lock && (await import('./data-folder/folder-id.js'));
    marks?.checkFolderId(dataDir, used);
    const search = elasticsearch
      ? await openElasticsearch(elasticsearch, startupRetry, { clock, log })
      : await withDataFolderErrors(dataDir, async () =>
          (await loadSqlite()).openSqliteStore({ ...config, clock }),
        );
    opened.push(search);
    const { store: analytics, engine } = clickhouse
      ? await retryUntilAvailable(startupRetry, () => openAnalyticsStore(clickhouse))
      : await withDataFolderErrors(dataDir, () =>
          openAnalyticsStore({ path: join(dataDir, ANALYTICS_FOLDER) }),
        );
    opened.push(analytics);
    marks?.writeFolderId(dataDir, used);
    const announcePort = (port: number) => lock?.announcePort(port);
    return { search, analytics, engine, announcePort, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Loads the client of Elasticsearch, 120 files, only where it is used. */
async function openElasticsearch(
  config: NonNullable<StoresConfig['elasticsearch']>,
  startupRetry: StartupRetryOptions | undefined,
  options: ElasticsearchStoreOptions,
): Promise<SearchStore> {
  const { openElasticsearchStore } = await import('./elasticsearch/store.js');
  return retryUntilAvailable(startupRetry, () => openElasticsearchStore(config, options));
}

/** Opens a store over the network, once it is up. */
async function retryUntilAvailable<T>(
  startupRetry: StartupRetryOptions | undefined,
  open: () => Promise<T>,
): Promise<T> {
  const until = Date.now() + (startupRetry?.timeoutMs ?? 0);
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || !startupRetry || Date.now() > until) throw error;
      startupRetry.onRetry(error.store);
      await pause(RETRY_INTERVAL_MS);
    }
  }
}

async function lockFolder(dataDir: string): Promise<FolderLock> {
  // The lock is a database, so where there is no SQLite this says so first.
  await loadSqlite();
  const { lockDataFolder } = await import('./data-folder/lock.js');
  return lockDataFolder(dataDir);
}

/** Opens a store of the data folder. */
async function withDataFolderErrors<T>(dataDir: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const isTheFolder =
      error instanceof StoreUnavailableError || (error instanceof Error && 'errno' in error);
    if (!isTheFolder) throw error;
    const { toDataFolderError } = await import('./data-folder/lock.js');
    throw toDataFolderError(dataDir, error);
  }
}
