import { expect } from 'chai';
import { runProcess as run } from '../../cli/support.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { serverEnvironment } from '../start-gateway.js';
import { type WorkerStores, type WorkerTest, workerStores, workerTest } from './worker-test.js';

const VISITS = Number(process.env.TEST_RECORDS ?? 8000);

describe('What SQL reads of the search store, beside a worker', function () {
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

  async function count(view: string): Promise<number> {
    const { client, config } = stores.database;
    const query = `SELECT count() AS rows FROM ${config.database}.${view} WHERE organization_id = 'org_a'`;
    const [row] = await (await client.query({ query, format: 'JSONEachRow' })).json<{ rows: string }>();
    return Number(row?.rows);
  }

  it('has every visit once, from a gateway and from Kafka, also when the worker is killed', async () => {
    const { topics, workers } = test;
    const killed = await workers.start(['website-visits']);
    const visit = (id: string) => ({ organizationId: 'org_a', id, createdAt: '2026-01-01T00:00:00Z' });
    await gateway.ingest('website-visits', [visit('gateway')]);
    expect(await count('website_visits')).to.equal(1);
    await topics.produce(
      'website-visits',
      Array.from({ length: VISITS }, (_, index) => ({
        key: `org_a/v${index}`,
        value: JSON.stringify(visit(`v${index}`)),
      })),
    );
    await until(async () => (await count('website_visits')) > 1, 'some are written', { pollMs: 5 });
    await killed.kill();
    const next = await workers.start(['website-visits']);
    await until(async () => (await count('website_visits')) === VISITS + 1, 'all are written', {
      pollMs: 500,
      timeoutMs: 180_000,
    });
    const port = /health and metrics on (http:\S+)/.exec(next.output())?.[1];
    const metrics = await (await fetch(`${port}/metrics`)).text();
    expect(metrics).to.match(/^reachline_worker_copy_lag_seconds \d/m);
  });

  it('has contacts and audiences after reachline copy, and the status and doctor say as of when', async () => {
    const { indices, database } = stores;
    await gateway.ingest('audiences', [{ organization_id: 'org_a', id: 'aud', name: 'A' }]);
    await gateway.ingest('contacts', [
      { organization_id: 'org_a', contact_id: 'ann', audience_ids: ['aud'] },
      { organization_id: 'org_a', contact_id: 'bob' },
    ]);
    const env = { PORT: '0', ...serverEnvironment(indices.config, database.config) };
    const { code, stdout, stderr } = await run(['copy'], { env });
    expect({ code, stdout }, stderr).to.deep.equal({
      code: 0,
      stdout: '3 contacts and audiences are copied.\n',
    });
    expect([await count('contacts'), await count('audiences'), await count('memberships')]).to.deep.equal([
      2, 1, 1,
    ]);
    const { body: status } = await gateway.call('/api/status', { organization_id: 'org_a' });
    expect(status.sql_copied_at).to.be.a('string');
    const doctor = await run(['doctor'], { env });
    expect(doctor.stdout).to.include(`SQL reads contacts and audiences as of ${status.sql_copied_at}`);
  });
});
