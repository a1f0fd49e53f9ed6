import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { recordStoreContract } from '../../contract/record-store.js';
import { tempFolder } from '../../support/temp-folder.js';

recordStoreContract('SQLite', async (options) => {
  const dataDir = tempFolder();
  const store = await openSqliteStore({ dataDir, searchProcesses: 2, ...options });
  return {
    store,
    another: ({ goesOn, ...hooks } = {}) =>
      openSqliteStore({ dataDir, searchProcesses: 1, ...options, ...hooks, resumesJobs: goesOn }),
    close: () => store.close(),
  };
});
