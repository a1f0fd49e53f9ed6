import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { searchStoreContract } from '../../contract/search-store.js';
import { testIndices } from './support.js';

searchStoreContract('Elasticsearch', async (options) => {
  const indices = testIndices();
  const open = () => openElasticsearchStore(indices.config, { ...options, refreshIntervalMs: 0 });
  const store = await open();
  await indices.refreshAtOnce();
  return {
    store,
    another: open,
    async close() {
      await store.close();
      await indices.remove();
    },
  };
});
