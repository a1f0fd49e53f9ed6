import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { freshOrganization } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { type TestIndices, testIndices } from './support.js';

describe('Months of visits on Elasticsearch', () => {
  let indices: TestIndices;
  let client: Client;
  let stores: ParsedStore[];

  before(async () => {
    indices = testIndices();
    client = new Client({ nodes: indices.config.nodes });
    stores = [
      parsed(await openElasticsearchStore(indices.config)),
      parsed(await openElasticsearchStore(indices.config)),
    ];
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await client.close();
    await indices.remove();
  });

  it('stores late visits of a month whose index was deleted, in every process that wrote to it before', async () => {
    const organizationId = freshOrganization();
    const insert = (store: ParsedStore, id: string) =>
      store.insertVisits(accepted([{ organizationId, id, createdAt: '2025-03-01T00:00:00Z' }], 0));
    for (const [index, store] of stores.entries()) await insert(store, `before_${index}`);

    const alias = `${indices.config.indexPrefix}-visits-2025.03`;
    await client.indices.delete({ index: Object.keys(await client.indices.getAlias({ name: alias })) });
    await Promise.all(stores.map((store, index) => insert(store, `after_${index}`)));

    const [store] = stores as [ParsedStore];
    await store.refresh();
    const page = await store.searchVisits({ organizationId, limit: 9 });
    expect(page.items.map(({ id }) => id)).to.deep.equal(['after_1', 'after_0']);
  });
});
