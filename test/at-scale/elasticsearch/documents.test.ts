import { expect } from 'chai';
import { RejectedError, StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { Cluster } from '../../../services/stores/elasticsearch/client.js';
import { Documents } from '../../../services/stores/elasticsearch/documents.js';
import { startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

describe('Documents of Elasticsearch that are asked for at the same time', () => {
  const indices = testIndices();
  let cluster: Cluster;
  let documents: Documents<{ balance: number }>;

  before(async () => {
    await openStore(indices.config);
    cluster = new Cluster(indices.config);
    documents = new Documents(cluster, `${indices.config.indexPrefix}-accounts`);
  });
  after(() => cluster.close());

  it('are created once each, and one that is rejected stops no other', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `new${index % 300}`);
    const create = (id: string, balance: unknown) =>
      documents.create(id, { organization_id: id, balance }, { refresh: false });
    const created = Promise.all(ids.map((id, balance) => create(id, balance)));
    const rejected = await create('wrong', 'many').catch((error: unknown) => error);
    const winners = (await created).flatMap((document) => document?.id ?? []);
    expect(rejected).to.be.instanceOf(RejectedError);
    expect(winners.sort()).to.deep.equal([...new Set(ids)].sort());
    expect(await documents.get('wrong')).to.equal(null);
  });

  it('are each what is stored, with the version that replaces it', async () => {
    const found = await Promise.all(['new7', 'none', 'new8'].map((id) => documents.get(id)));
    expect(found.map((each) => each?.id)).to.deep.equal(['new7', undefined, 'new8']);
    const [seven] = found;
    if (!seven) throw new Error('there is no document');
    const replace = (balance: number) =>
      documents.replace(seven, { organization_id: 'new7', balance }, { refresh: false });
    expect(await replace(70)).not.to.equal(null);
    expect(await replace(71)).to.equal(null);
  });

  it('are asked for alone where they cannot be read together, and have their own errors', async () => {
    const proxy = await startHttpProxy(indices.config);
    const failing = new Cluster(proxy.config);
    const shard = { type: 'no_shard_available_action_exception', reason: 'no shard is available' };
    const alone: string[] = [];
    proxy.decide = ({ path, body }) => {
      if (path.includes('_mget')) {
        const { docs } = JSON.parse(body) as { docs: { _id: string }[] };
        return { response: { docs: docs.map(({ _id }) => ({ _index: 'accounts', _id, error: shard })) } };
      }
      alone.push(path);
      return path.includes('new9') ? 'cut' : 'pass';
    };
    const broken = new Documents<{ balance: number }>(failing, `${indices.config.indexPrefix}-accounts`);
    const ids = ['new1', 'none', 'new9'];
    const read = await Promise.allSettled(ids.map((id) => broken.get(id)));
    const [one, none, cut] = read.map((each) => (each.status === 'fulfilled' ? each.value : each.reason));
    expect(one).to.deep.include({ id: 'new1' });
    expect(none).to.equal(null);
    expect(cut).to.be.instanceOf(StoreUnavailableError);
    expect(String((cut as Error).cause)).not.to.contain('alias');
    expect(alone.length).to.be.at.least(3);
    const found = await broken.getMany(ids.slice(0, 2).map((id) => ({ id })));
    expect([...found.keys()]).to.deep.equal(['new1']);
    await failing.close();
  });
});
