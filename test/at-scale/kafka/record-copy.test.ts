import { expect } from 'chai';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { type WorkerStores, type WorkerTest, workerStores, workerTest } from './worker-test.js';

const CONTACTS = Number(process.env.TEST_RECORDS ?? 8000);

describe('The copy of records in ClickHouse that a worker keeps', function () {
  this.timeout(300_000);
  let stores: WorkerStores;
  let test: WorkerTest;
  let gateway: TestGateway;

  before(async () => {
    stores = await workerStores();
    test = await workerTest(stores);
    const { indices, database } = stores;
    gateway = await startTestGateway({ elasticsearch: indices.config, clickhouse: database.config });
  });
  after(async () => {
    await gateway?.close();
    await test?.close();
    await stores?.remove();
  });

  async function count(view: string, condition = '1'): Promise<number> {
    const { client, config } = stores.database;
    const query = `SELECT count() AS rows FROM ${config.database}.${view} WHERE organization_id = 'org_a' AND ${condition}`;
    const [row] = await (await client.query({ query, format: 'JSONEachRow' })).json<{ rows: string }>();
    return Number(row?.rows);
  }

  it('holds records from a gateway and from Kafka, also when the worker is killed during a copy', async () => {
    const { topics, workers } = test;
    const killed = await workers.start(['contacts', 'website-visits']);
    await gateway.ingest('audiences', [{ organization_id: 'org_a', id: 'aud', name: 'A' }]);
    const created = await gateway.call('/api/contacts/create', {
      organization_id: 'org_a',
      audience_id: 'aud',
      first_name: 'Ann',
      work_emails: ['ann@a.example'],
    });
    expect(created.status, created.text).to.equal(200);
    for (const view of ['audiences', 'memberships']) {
      await until(async () => (await count(view)) === 1, `${view} are copied`, { pollMs: 200 });
    }

    const records = Array.from({ length: CONTACTS }, (_, index) => ({
      key: `org_a/c${index}`,
      value: JSON.stringify({ organization_id: 'org_a', contact_id: `c${index}`, audience_ids: ['aud'] }),
    }));
    await topics.produce('contacts', records);
    await topics.produce('website-visits', [
      {
        key: 'org_a/v',
        value: JSON.stringify({
          organizationId: 'org_a',
          id: 'v',
          createdAt: '2026-01-01T00:00:00Z',
          audienceId: 'aud',
        }),
      },
    ]);
    await until(async () => (await count('contacts')) > 1, 'some are copied', {
      pollMs: 20,
      timeoutMs: 60_000,
    });
    await killed.kill();
    const next = await workers.start(['contacts', 'website-visits']);
    const deleted = await gateway.call('/api/contacts/delete', {
      organization_id: 'org_a',
      contact_ids: [(created.body.contact as { contact_id: string }).contact_id],
    });
    expect(deleted.status, deleted.text).to.equal(200);
    // A killed worker leaves its lease behind.
    await until(async () => (await count('contacts')) === CONTACTS, 'all are copied', {
      pollMs: 500,
      timeoutMs: 180_000,
    });
    expect(await count('contacts', "first_name = 'Ann'")).to.equal(0);
    expect(await count('memberships')).to.equal(CONTACTS);
    await until(async () => (await count('website_visits')) === 1, 'the visit is copied', { pollMs: 500 });
    const port = /health and metrics on (http:\S+)/.exec(next.output())?.[1];
    const lag = async () =>
      /^reachline_worker_copy_lag_seconds (\S+)$/m.exec(await (await fetch(`${port}/metrics`)).text())?.[1];
    await until(async () => (await lag()) === '0', 'the metric tells', { pollMs: 500 });
  });
});
