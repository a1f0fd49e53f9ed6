import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { searchStoreContract } from '../../contract/search-store.js';
import { testIndices } from './support.js';

searchStoreContract('Elasticsearch', async (options) => {
  const indices = testIndices();
  const store = await openElasticsearchStore(indices.config, options);
  return {
    store,
    another: () => openElasticsearchStore(indices.config, options),
    async close() {
      await store.close();
      await indices.remove();
    },
  };
});
