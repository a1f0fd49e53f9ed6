import { expect } from 'chai';
import { StoreTimeoutError } from '../../../services/shared/store-errors.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { asked, freshOrganization } from '../../contract/record-store-support.js';
import { gate, type HttpProxy, startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

describe('Aborted reads on Elasticsearch', () => {
  let proxy: HttpProxy;
  let store: RecordStore;
  const organizationId = freshOrganization();

  before(async () => {
    proxy = await startHttpProxy(testIndices().config);
    store = await openStore(proxy.config);
  });

  /** Delays requests to these paths. The recovery job reads other indices. */
  function holdReads(paths: RegExp) {
    const held = gate();
    let closed: Promise<void> = Promise.resolve();
    proxy.decide = async (request) => {
      if (!paths.test(request.path)) return 'pass' as const;
      closed = request.closed;
      await held.wait();
      return 'pass' as const;
    };
    return { held, isClosed: () => closed };
  }

  const reads: [string, (signal: AbortSignal) => Promise<unknown>][] = [
    [
      'a search of contacts',
      (signal) => store.searchContacts(asked(organizationId, { limit: 1 }), { signal }),
    ],
    [
      'a search of audiences',
      (signal) => store.searchAudiences({ organizationId, offset: 0, limit: 1 }, signal),
    ],
    ['a search of visits', (signal) => store.searchVisits({ organizationId, limit: 1 }, signal)],
    ['a read of a contact', (signal) => store.getContact(organizationId, 'c', { signal })],
    ['a read of many contacts', (signal) => store.getContacts(organizationId, ['c', 'd'], signal)],
    ['a read of an audience', (signal) => store.getAudience(organizationId, 'a', { signal })],
  ];
  for (const [what, read] of reads) {
    it(`ends ${what} at once with the reason when its caller aborts, and closes the connection to the cluster`, async () => {
      const { held, isClosed } = holdReads(/-(contacts|audiences|visits)\/_(search|doc|mget)/);
      const controller = new AbortController();
      const reason = new Error('the caller left');
      const outcome = read(controller.signal).catch((error: unknown) => error);
      await held.reached;
      controller.abort(reason);
      expect(await outcome).to.equal(reason);
      await isClosed();
      held.open();
    });
  }

  it('ends a search at its deadline, and closes the connection to the cluster', async () => {
    const impatient = await openStore(proxy.config, { searchTimeoutMs: 100 });
    for (const search of [
      () => impatient.searchContacts(asked(organizationId, { limit: 1 })),
      () => impatient.searchAudiences({ organizationId, offset: 0, limit: 1 }),
      () => impatient.searchVisits({ organizationId, limit: 1 }),
    ]) {
      const { held, isClosed } = holdReads(/-(contacts|audiences|visits)\/_search/);
      const outcome = await search().catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(StoreTimeoutError);
      // The timeout of the client, after 28 s, would set a cause.
      expect((outcome as Error).cause).to.equal(undefined);
      await isClosed();
      held.open();
    }
  });
});
