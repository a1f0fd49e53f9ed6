import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnalyticsStore } from '../advertising/analytics-store.js';
import { type Clock, systemClock } from '../shared/clock.js';
import type { Config } from '../shared/config.js';
import { type StoreName, StoreUnavailableError } from '../shared/store-errors.js';
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
export interface Patience {
  milliseconds: number;
  onWaiting(store: StoreName): void;
}

export interface OpenStoresOptions {
  patience?: Patience;
  clock?: Clock;
  /** For what stores do in the background. */
  log?: ElasticsearchStoreOptions['log'];
}

const PAUSE_MS = 1000;

/**
 * Opens each store where the settings say it is. Throws `DataFolderError` when an embedded one cannot use the data folder or
 * another process holds it, and `StoreUnavailableError` when a server does not answer.
 */
export async function openStores(
  config: StoresConfig,
  { patience, clock = systemClock, log }: OpenStoresOptions = {},
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
    const marks = lock && (await import('./data-folder/marks.js'));
    marks?.checkMarks(dataDir, used);
    const search = elasticsearch
      ? await openElasticsearch(elasticsearch, patience, { clock, log })
      : await inFolder(dataDir, async () => (await loadSqlite()).openSqliteStore({ ...config, clock }));
    opened.push(search);
    const { store: analytics, engine } = clickhouse
      ? await waiting(patience, () => openAnalyticsStore(clickhouse))
      : await inFolder(dataDir, () => openAnalyticsStore({ path: join(dataDir, ANALYTICS_FOLDER) }));
    opened.push(analytics);
    marks?.writeMarks(dataDir, used);
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
  patience: Patience | undefined,
  options: ElasticsearchStoreOptions,
): Promise<SearchStore> {
  const { openElasticsearchStore } = await import('./elasticsearch/store.js');
  return waiting(patience, () => openElasticsearchStore(config, options));
}

/** Opens a store over the network, once it is up. */
async function waiting<T>(patience: Patience | undefined, open: () => Promise<T>): Promise<T> {
  const until = Date.now() + (patience?.milliseconds ?? 0);
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || !patience || Date.now() > until) throw error;
      patience.onWaiting(error.store);
      await pause(PAUSE_MS);
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
async function inFolder<T>(dataDir: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const isTheFolder =
      error instanceof StoreUnavailableError || (error instanceof Error && 'errno' in error);
    if (!isTheFolder) throw error;
    const { cannotBeUsed } = await import('./data-folder/lock.js');
    throw cannotBeUsed(dataDir, error);
  }
}
