import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../services/stores/sqlite/sqlite-store.js';
import { searchStoreContract } from '../../contract/search-store.js';

searchStoreContract('SQLite', async (options) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'reachline-sqlite-'));
  const store = await openSqliteStore({ dataDir, searchThreads: 2, ...options });
  return {
    store,
    async close() {
      await store.close();
      rmSync(dataDir, { recursive: true });
    },
  };
});
