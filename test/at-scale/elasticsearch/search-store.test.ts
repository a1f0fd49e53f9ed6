import { searchStoreContract } from '../../contract/search-store.js';
import { openStore, testIndices } from './support.js';

searchStoreContract('Elasticsearch', async (options) => {
  const indices = testIndices();
  const open = () => openStore(indices.config, { ...options, refreshIntervalMs: 0 });
  const store = await open();
  await indices.refreshAtOnce();
  return { store, another: open, close: () => store.close() };
});
