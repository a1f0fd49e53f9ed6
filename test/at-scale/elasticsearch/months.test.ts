import { expect } from 'chai';
import { freshOrganization } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { openStore, testIndices } from './support.js';

describe('Months of visits on Elasticsearch', () => {
  it('stores late visits of a month whose index was deleted, in every process that wrote to it before', async () => {
    const indices = testIndices();
    const client = indices.client();
    const stores = [
      parsed(await openStore(indices.config)),
      parsed(await openStore(indices.config)),
    ] as const;
    const organizationId = freshOrganization();
    const insert = (store: ParsedStore, id: string) =>
      store.insertVisits(accepted([{ organizationId, id, createdAt: '2025-03-01T00:00:00Z' }], 0));
    for (const [index, store] of stores.entries()) await insert(store, `before_${index}`);

    const alias = `${indices.config.indexPrefix}-visits-2025.03`;
    await client.indices.delete({ index: Object.keys(await client.indices.getAlias({ name: alias })) });
    await Promise.all(stores.map((store, index) => insert(store, `after_${index}`)));

    const [store] = stores;
    await store.refresh();
    const page = await store.searchVisits({ organizationId, limit: 9 });
    expect(page.items.map(({ id }) => id)).to.deep.equal(['after_1', 'after_0']);
  });
});
