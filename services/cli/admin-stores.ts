import { loadConfig } from '../shared/config.js';
import { ID_PATTERN } from '../shared/ids.js';
import type { AdminStore } from '../stores/common/search-store.js';
import { loadSqliteAdmin } from '../stores/sqlite/load.js';
import { UsageError } from './errors.js';
import type { Io } from './io.js';

/** Opens keys, credits and audiences for as long as the work takes. Servers may have the store open meanwhile. */
export async function withAdminStore<T>(io: Io, work: (store: AdminStore) => Promise<T>): Promise<T> {
  const config = loadConfig(io.env);
  const store: AdminStore = config.elasticsearch
    ? await (await import('../stores/elasticsearch/store.js')).openElasticsearchStore(config.elasticsearch)
    : await (await loadSqliteAdmin()).openSqliteAdminStore(config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const id = new RegExp(ID_PATTERN);

export function requireId(option: string, value: string): void {
  if (!id.test(value)) {
    throw new UsageError(
      `${option} is ${JSON.stringify(value)}, but an identifier has 1 to 128 characters of A-Z a-z 0-9 . _ : -`,
    );
  }
}
