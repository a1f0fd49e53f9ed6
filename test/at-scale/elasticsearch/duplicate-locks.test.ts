import { expect } from 'chai';
import { Claims } from '../../../services/stores/elasticsearch/claims.js';
import { Cluster } from '../../../services/stores/elasticsearch/cluster.js';
import { IndexNames } from '../../../services/stores/elasticsearch/indices.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import type { SearchStore } from '../../../services/stores/search-store.js';
import { freshOrganization, newContact } from '../../contract/search-support.js';
import { type TestIndices, testIndices } from './support.js';

describe('Creators that take turns on Elasticsearch', () => {
  let indices: TestIndices;
  let stores: SearchStore[];

  before(async () => {
    indices = testIndices();
    stores = [await openElasticsearchStore(indices.config), await openElasticsearchStore(indices.config)];
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await indices.remove();
  });

  it('do not wait for ever for one that died in its turn, and make the contact once', async () => {
    const organization = freshOrganization();
    const [store] = stores as [SearchStore];
    await store.upsertAudiences([{ organization_id: organization, id: 'aud', name: 'A' }], Date.now());
    const cluster = new Cluster(indices.config);
    const claims = new Claims(cluster, new IndexNames(indices.config.indexPrefix));
    const lock = { route: 'on_duplicate', key: 'email a@x.example', fingerprint: '' };
    expect(await claims.claim(organization, lock, null, Date.now(), 1000)).to.include({ kind: 'claimed' });
    await cluster.close();

    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const once = await (stores[index % 2] as SearchStore).createContact({
          contact: newContact(organization, `c${index}`, { work_emails: ['a@x.example'] }),
          audienceId: 'aud',
          requiredCredits: 1,
          onDuplicate: 'reject',
          dryRun: false,
        });
        return once.kind === 'done' ? once.value.kind : once.kind;
      }),
    );
    expect(outcomes.sort()).to.deep.equal([...Array(7).fill('contact_exists'), 'created']);
  });
});
