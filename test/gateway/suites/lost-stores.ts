import { expect } from 'chai';
import { gatewaySuite } from '../../support/gateway.js';
import { expectProblem } from '../../support/problems.js';

const organization = { organization_id: 'org_a' };
const SEARCH = '/api/contacts/search';
const CAMPAIGNS = '/api/advertising/network_a/campaigns';
const COMPANIES = '/api/advertising/network_a/companies';
const COMPANY = '/api/advertising/network_a/company';
const range = { start_date: '2026-10-01', end_date: '2026-10-31' };

export const searchStoreGone = gatewaySuite('A gateway whose search store is gone', (start) => {
  it('answers 503 without the message of the search store, and still serves advertising', async () => {
    const gateway = await start();
    try {
      await gateway.call(SEARCH, organization);
      await gateway.stores.search.close();
      const answer = await gateway.call(SEARCH, organization);
      expectProblem(answer, 503, 'store_unavailable');
      expect(answer.headers.get('Retry-After')).to.equal('1');
      expect((await gateway.call(CAMPAIGNS, range)).status).to.equal(200);
      const written = await gateway.ingest('contacts', [{ contact_id: 'x' }]);
      expectProblem(written, 503, 'store_unavailable');
      const ready = await gateway.call('/readyz', undefined, { method: 'GET' });
      expect(ready.status).to.equal(503);
      expect(ready.body.stores).to.deep.equal({ search: 'unavailable', analytics: 'ok' });
    } finally {
      await gateway.close();
    }
  });
});

export const analyticsStoreGone = gatewaySuite('A gateway whose analytics store is gone', (start) => {
  it('answers 503 without the message of the analytics store, and still serves contacts', async () => {
    const gateway = await start();
    try {
      await gateway.stores.analytics.close();
      for (const [path, body] of [
        [CAMPAIGNS, range],
        [COMPANIES, range],
        [COMPANY, { ...range, company_id: 'co_1' }],
      ] as const) {
        const answer = await gateway.call(path, body);
        expectProblem(answer, 503, 'store_unavailable');
        expect(answer.headers.get('Retry-After')).to.equal('1');
      }
      const delivery = { date: '2026-10-01', campaign_id: 'a', creative_id: 'b' };
      expectProblem(await gateway.ingest('network-a-deliveries', [delivery]), 503, 'store_unavailable');
      expect((await gateway.call(SEARCH, organization)).status).to.equal(200);
      const ready = await gateway.call('/readyz', undefined, { method: 'GET' });
      expect(ready.body.stores).to.deep.equal({ search: 'ok', analytics: 'unavailable' });
    } finally {
      await gateway.close();
    }
  });
});
