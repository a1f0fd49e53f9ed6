import { expect } from 'chai';
import { gatewaySuite } from '../../support/gateway.js';
import { expectProblem } from '../../support/problems.js';
import { responseCheck } from '../../support/schema-check.js';

type Request = [path: string, body: object];

const ADVERTISING = '/api/advertising/network_a';
const range = { start_date: '2026-10-01', end_date: '2026-10-31' };
const search: Request = ['/api/contacts/search', { organization_id: 'org_a' }];
const campaigns: Request = [`${ADVERTISING}/campaigns`, range];
const delivery = { date: '2026-10-01', campaign_id: 'a', creative_id: 'b' };

/** Requests that need a store, records of a stream in that store, and a request that needs the other store. */
const CASES = [
  { store: 'records', failing: [search], stream: 'contacts', record: { contact_id: 'x' }, served: campaigns },
  {
    store: 'analytics',
    failing: [
      campaigns,
      [`${ADVERTISING}/companies`, range],
      [`${ADVERTISING}/company`, { ...range, company_id: 'co_1' }],
    ] as Request[],
    stream: 'network-a-deliveries',
    record: delivery,
    served: search,
  },
] as const;

export const lostStores = gatewaySuite('A gateway without a store', (start) => {
  it('accepts records of the store that answers, and says that a rejected one is not kept', async () => {
    const gateway = await start();
    try {
      await gateway.ingest('network-a-deliveries', [delivery]);
      await gateway.stores.records.close();
      const answer = await gateway.ingest('network-a-deliveries', [delivery, { ...delivery, date: 'never' }]);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body).to.include({ accepted: 1, rejected: 1, kept: false });
    } finally {
      await gateway.close();
    }
  });

  for (const { store, failing, stream, record, served } of CASES) {
    it(`answers 503 without the message of the ${store} store, and serves what the other one has`, async () => {
      const gateway = await start();
      try {
        // A key that was verified before is still known while the key store is unavailable.
        await gateway.call(...search);
        await gateway.stores[store].close();
        for (const request of failing) {
          const answer = await gateway.call(...request);
          expectProblem(answer, 503, 'store_unavailable');
          expect(answer.headers.get('Retry-After')).to.equal('1');
        }
        expectProblem(await gateway.ingest(stream, [record]), 503, 'store_unavailable');
        expect((await gateway.call(...served)).status).to.equal(200);
        const ready = await gateway.call('/readyz', undefined, { method: 'GET' });
        expect(ready.status).to.equal(503);
        const stores = { records: 'ok', analytics: 'ok', [store]: 'unavailable' };
        expect(ready.body.stores).to.deep.equal(stores);
        const own = await gateway.call('/readyz/process', undefined, { method: 'GET' });
        expect(own).to.deep.include({ status: 200, body: { ready: true, stopping: false } });
        const { body } = await gateway.call('/api/status');
        expect(responseCheck.get('/api/status')?.(body)).to.deep.equal([]);
        expect(body.stores).to.deep.equal(stores);
        const missing = { records: null, last_accepted_at: null };
        expect((body.streams as Record<string, object>)[stream]).to.include(missing);
      } finally {
        await gateway.close();
      }
    });
  }
});
