import { expect } from 'chai';
import { checkHealth } from '../../../services/shared/health.js';
import { DiskFullError, ReadOnlyError } from '../../../services/shared/store-errors.js';
import { inspectElasticsearch } from '../../../services/stores/elasticsearch/inspect.js';
import { accepted } from '../../support/accepted.js';
import { openStore, testIndices } from './support.js';

describe('Elasticsearch that blocks writes', () => {
  for (const [block, state, errorClass] of [
    ['read_only_allow_delete', 'full', DiskFullError],
    ['read_only', 'read_only', ReadOnlyError],
    // The block that a reindex sets for seconds.
    ['write', 'read_only', ReadOnlyError],
  ] as const) {
    it(`by ${block} is ${state}, is named by doctor, and rejects every kind of write at once`, async () => {
      const indices = testIndices();
      const store = await openStore(indices.config);
      const client = indices.client();
      const setBlock = (isBlocked: boolean) =>
        client.indices.putSettings({
          index: ['accounts', 'contacts'].map((name) => `${indices.config.indexPrefix}-${name}*`),
          settings: { [`index.blocks.${block}`]: isBlocked || null },
        });
      const contact = (id: string, at: number) =>
        store.upsertContacts(accepted([{ organization_id: 'org_a', contact_id: id, city: `${at}` }], at));
      await store.setCredits('org_a', 1);
      await contact('known', 1);
      expect(await checkHealth(store)).to.equal('ok');
      await setBlock(true);
      try {
        expect(await checkHealth(store)).to.equal(state);
        const writes = [
          [() => store.setCredits('org_a', 2), errorClass],
          [() => store.setCredits('org_b', 1), errorClass],
          [() => contact('known', 2), errorClass],
          [() => contact('new', 2), errorClass],
        ] as const;
        for (const [write, expected] of writes) {
          const begun = performance.now();
          expect(await write().catch((error: unknown) => error)).to.be.instanceOf(expected);
          expect(performance.now() - begun).to.be.below(1500);
        }
        const { blocked } = await inspectElasticsearch(indices.config);
        expect(blocked).to.have.lengthOf(2);
        expect(blocked.join()).to.match(new RegExp(`-accounts-v\\d+-1 ${block}\\b`));
      } finally {
        await setBlock(false);
      }
      expect(await checkHealth(store)).to.equal('ok');
      await store.setCredits('org_a', 3);
    });
  }
});
