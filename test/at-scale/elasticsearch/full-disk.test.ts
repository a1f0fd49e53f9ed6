import { expect } from 'chai';
import { checkHealth } from '../../../services/shared/health.js';
import { DiskFullError, ReadOnlyError } from '../../../services/shared/store-errors.js';
import { inspectElasticsearch } from '../../../services/stores/elasticsearch/inspect.js';
import { openStore, testIndices } from './support.js';

describe('Elasticsearch that blocks writes', () => {
  it('is reported as full above its flood stage, and as read-only where an operator blocks it, and rejects writes at once', async () => {
    const indices = testIndices();
    const store = await openStore(indices.config);
    const client = indices.client();
    const block = (isBlocked: boolean, name = 'read_only_allow_delete') =>
      client.indices.putSettings({
        index: `${indices.config.indexPrefix}-accounts*`,
        settings: { [`index.blocks.${name}`]: isBlocked },
      });
    const write = () => store.setCredits('org_a', 1).catch((error: unknown) => error);
    try {
      expect(await checkHealth(store)).to.equal('ok');
      await block(true);
      expect(await checkHealth(store)).to.equal('full');
      expect(await write()).to.be.instanceOf(DiskFullError);
      await block(false);
      await block(true, 'read_only');
      expect(await checkHealth(store)).to.equal('read_only');
      expect(await write()).to.be.instanceOf(ReadOnlyError);
      const { blocked } = await inspectElasticsearch(indices.config);
      expect(blocked).to.have.lengthOf(1);
      expect(blocked[0]).to.match(/-accounts-v\d+-1 read_only$/);
      await block(false, 'read_only');
      expect(await checkHealth(store)).to.equal('ok');
    } finally {
      await block(false, 'read_only');
      await block(false);
    }
  });
});
