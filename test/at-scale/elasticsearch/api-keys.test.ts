import { expect } from 'chai';
import { issueKey, parseKey } from '../../../services/accounts/keys.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { freshOrganization } from '../../contract/record-store-support.js';
import { type HttpProxy, startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

describe('API keys on Elasticsearch', () => {
  let proxy: HttpProxy;
  let store: RecordStore;

  before(async () => {
    proxy = await startHttpProxy(testIndices().config);
    store = await openStore(proxy.config);
  });

  const keysOf = async (organizationId: string) =>
    (await store.listKeys({ organizationId, limit: 10, now: Date.now() })).items;

  for (const [what, times] of [
    ['one response', 1],
    ['every response', 3],
  ] as const) {
    it(`issues an API key although ${what} to its create request is lost`, async () => {
      const organizationId = freshOrganization();
      let lost = 0;
      proxy.decide = ({ method, path }) =>
        method === 'PUT' && path.includes('-keys/_create') && lost++ < times ? 'cut response' : 'pass';
      const key = parseKey(await issueKey(store, { organizationId }));
      expect(lost).to.be.at.least(times);
      proxy.decide = () => 'pass';
      expect((await keysOf(organizationId)).map(({ id }) => id)).to.deep.equal([key?.id]);
    });
  }

  it('rejects an API key with the id of another key', async () => {
    const organizationId = freshOrganization();
    await issueKey(store, { organizationId });
    const [first] = await keysOf(organizationId);
    if (!first) throw new Error('there is no key');
    const second = await store
      .insertKey({ ...first, secret_hash: 'f'.repeat(64) })
      .catch((error: Error) => error);
    expect(second).to.be.instanceOf(Error);
    expect(await store.findKey(first.id)).to.deep.equal(first);
  });
});
