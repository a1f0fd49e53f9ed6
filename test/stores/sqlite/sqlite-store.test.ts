import { openSqliteStore } from '../../../services/stores/sqlite/sqlite-store.js';
import { searchStoreContract } from '../../contract/search-store.js';
import { removeTempFolders, tempFolder } from './temp-folder.js';

after(removeTempFolders);

searchStoreContract('SQLite', async (options) => {
  const store = await openSqliteStore({ dataDir: tempFolder(), searchThreads: 2, ...options });
  return { store, close: () => store.close() };
});
