import { loadConfig } from '../shared/config.js';
import type { RecordStore } from '../stores/common/record-store.js';
import { loadSqlite } from '../stores/sqlite/load.js';
import type { Io } from './io.js';

/**
 * Opens the store of keys, credits and audiences for `work`. A running server may have it open as well. The store does not keep the rules of
 * operations: `runAdminOperation` does.
 */
export async function withAdminStore<T>(io: Io, work: (store: RecordStore) => Promise<T>): Promise<T> {
  const config = loadConfig(io.env);
  const store: RecordStore = config.elasticsearch
    ? await (await import('../stores/elasticsearch/store.js')).openElasticsearchStore(config.elasticsearch, {
        copies: () => undefined,
      })
    : await (await loadSqlite()).openSqliteStore(config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
