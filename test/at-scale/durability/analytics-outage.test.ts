import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { issueKey } from '../../../services/accounts/keys.js';
import type { SearchStore } from '../../../services/stores/common/search-store.js';
import { startClickHouse } from '../../stack/clickhouse.js';
import type { Server } from '../../stack/server.js';
import { openStore, testIndices } from '../elasticsearch/support.js';
import { Gateways } from './gateways.js';

const ORGANIZATION = 'org_outage';
const KILLS = Number(process.env.TEST_STORE_KILLS ?? 1);
const WRITERS = 4;
const TRAFFIC_MS = 2000;
const RANGE = { start_date: '2026-01-01', end_date: '2026-01-31' };
const CAMPAIGNS = '/api/advertising/network_a/campaigns';
const SEARCH = '/api/contacts/search';

describe('ClickHouse killed under writes', () => {
  let clickhouse: Server;
  const indices = testIndices();
  let store: SearchStore;
  let gateways: Gateways;

  before(async () => {
    clickhouse = await startClickHouse();
    store = await openStore(indices.config);
    const key = await issueKey(store, { organizationId: ORGANIZATION, scopes: ['*'] });
    gateways = await Gateways.start(2, indices.config, key, { CLICKHOUSE_URL: clickhouse.address });
  });
  after(async () => {
    await gateways?.stop();
    await clickhouse?.remove();
  });

  it(`keeps every acknowledged write over ${KILLS} kills, without a restart of the gateways`, async () => {
    let stopping = false;
    let records = 0;
    const clicks = new Map<string, number>();
    const writer = async (name: number) => {
      for (let version = 1; !stopping; version++) {
        // Restated day by day: only the last value of a row counts.
        const rows = Array.from({ length: 20 }, (_, index) => ({
          date: `2026-01-${String(1 + (index % 31)).padStart(2, '0')}`,
          campaign_id: `campaign_${name}_${version % 3}`,
          creative_id: `creative_${index}`,
          clicks: version,
          reported_at: new Date(Date.UTC(2026, 1, 1) + version).toISOString(),
        }));
        const response = await gateways.callUntilDone('/api/ingest/network-a-deliveries', undefined, {
          raw: rows.map((row) => JSON.stringify(row)).join('\n'),
          headers: { 'Content-Type': 'application/x-ndjson' },
        });
        expect(response.body, response.text).to.include({ accepted: rows.length, rejected: 0 });
        for (const row of rows) clicks.set(`${row.campaign_id}/${row.creative_id}`, version);
        records += rows.length;
      }
    };
    const running = Promise.all(Array.from({ length: WRITERS }, (_, name) => writer(name)));
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(TRAFFIC_MS);
      await clickhouse.kill();
      await gateways.expectOutage(
        'analytics',
        [CAMPAIGNS, RANGE],
        [SEARCH, { organization_id: ORGANIZATION }],
      );
      await clickhouse.start();
      await gateways.ready();
    }
    await pause(TRAFFIC_MS);
    stopping = true;
    await running;

    const expected = new Map<string, number>();
    for (const [row, value] of clicks) {
      const [campaign = ''] = row.split('/');
      expected.set(campaign, (expected.get(campaign) ?? 0) + value);
    }
    const response = await gateways.callUntilDone(CAMPAIGNS, { ...RANGE, metrics: ['clicks'] }, {});
    const campaigns = response.body.items as { id: string; clicks: number }[];
    expect(new Map(campaigns.map(({ id, clicks: sum }) => [id, sum]))).to.deep.equal(expected);
    expect(records).to.be.greaterThan(0);
  }).timeout(600_000);
});
