import { expect } from 'chai';
import { checkHealth } from '../../../services/shared/health.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { testIndices } from './support.js';

describe('Elasticsearch above its flood stage', () => {
  it('is reported as full while it blocks the writes of an index', async () => {
    const indices = testIndices();
    const store = await openElasticsearchStore(indices.config);
    const client = indices.client();
    const block = (read_only_allow_delete: boolean) =>
      client.indices.putSettings({
        index: `${indices.config.indexPrefix}-contacts*`,
        settings: { blocks: { read_only_allow_delete } },
      });
    try {
      expect(await checkHealth(store)).to.equal('ok');
      await block(true);
      expect(await checkHealth(store)).to.equal('full');
      await block(false);
      expect(await checkHealth(store)).to.equal('ok');
    } finally {
      await block(false);
      await client.close();
      await store.close();
      await indices.remove();
    }
  });
});
