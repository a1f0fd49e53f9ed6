import { expect } from 'chai';
import { gatewaySuite, type TestGateway, useGateway } from '../../support/gateway.js';
import { responseCheck } from '../../support/schema-check.js';

const PATH = '/api/status';
type Streams = Record<string, Record<string, unknown>>;

async function readStatus(gateway: TestGateway, key?: string) {
  const answer = await gateway.call(PATH, {}, { key });
  expect(answer.status, answer.text).to.equal(200);
  expect(responseCheck.get(PATH)?.(answer.body)).to.deep.equal([]);
  return answer.body as { streams: Streams; stores: object; version: string; organization_id: string };
}

export const status = gatewaySuite('The status of an organization', (start) => {
  const gateway = useGateway(undefined, start);

  it('names the ingested records, for the organization of the key only', async () => {
    const startedAt = Date.now();
    const createdAt = '2026-11-05T10:00:00.000Z';
    await gateway.ingest('contacts', [{ contact_id: 'c1' }, { contact_id: 'c2' }, { contact_id: '!' }]);
    await gateway.ingest('website-visits', [{ id: 'v', createdAt }]);
    const delivery = { campaign_id: 'cam', creative_id: 'cre', date: '2026-11-01', impressions: 1 };
    await gateway.ingest('network-a-deliveries', [delivery, { ...delivery, clicks: 1 }]);
    const { streams, stores, version } = await readStatus(gateway);
    const records = Object.fromEntries(
      Object.entries(streams).map(([name, stream]) => [name, stream.records]),
    );
    expect(records).to.deep.equal({
      contacts: 2,
      audiences: 0,
      'website-visits': 1,
      'network-a-campaigns': 0,
      'network-a-creatives': 0,
      'network-a-companies': 0,
      'network-a-deliveries': 1,
      'currency-rates': 0,
    });
    for (const name of ['contacts', 'website-visits', 'network-a-deliveries']) {
      expect(Date.parse(streams[name]?.last_accepted_at as string), name).to.be.within(startedAt, Date.now());
    }
    expect(streams.audiences?.last_accepted_at).to.equal(null);
    expect(streams['website-visits']?.last_created_at).to.equal(createdAt);
    expect(streams['network-a-deliveries']).to.include({ last_date: '2026-11-01' });
    expect(streams['network-a-deliveries']?.provisional_from).to.match(/^\d{4}-\d\d-\d\d$/);
    expect(stores).to.deep.equal({ search: 'ok', analytics: 'ok' });
    expect(version).to.match(/^\d+\.\d+\.\d+/);

    const other = await readStatus(gateway, await gateway.keyFor('org_b', ['ingest:write']));
    expect(other.organization_id).to.equal('org_b');
    for (const stream of Object.values(other.streams)) {
      expect(stream).to.include({ records: 0, last_accepted_at: null });
    }
  });
});

export const statusWithoutStores = gatewaySuite('The status while both stores are unavailable', (start) => {
  it('is answered with null figures', async () => {
    const gateway = await start();
    try {
      // A key that was verified before is known while the store of keys is down.
      await gateway.call('/api/key', undefined, { method: 'GET' });
      await gateway.stores.search.close();
      await gateway.stores.analytics.close();
      const { streams, stores } = await readStatus(gateway);
      expect(stores).to.deep.equal({ search: 'unavailable', analytics: 'unavailable' });
      for (const stream of Object.values(streams)) {
        expect(stream).to.include({ records: null, last_accepted_at: null });
      }
    } finally {
      await gateway.close();
    }
  });
});
