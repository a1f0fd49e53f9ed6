import { expect } from 'chai';
import { allMigrations, migrate } from '../../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../../services/stores/clickhouse/open.js';
import { commonSettings, DEFAULT_TIMEOUT_MS } from '../../../services/stores/clickhouse/settings.js';
import { openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import { startClickHouse } from '../../stack/clickhouse.js';
import { freePort } from '../../stack/free-port.js';
import type { Server } from '../../stack/server.js';
import { accepted } from '../../support/accepted.js';
import { afterFile } from '../../support/opened.js';
import { rawSql } from '../../support/raw-sql.js';
import { testDatabase } from './support.js';

const nameOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: Error) => error.name,
  );

describe('a ClickHouse server that comes and goes', () => {
  let server: Server;

  before(async () => {
    server = await startClickHouse();
    afterFile(() => server.remove());
  });

  it('is unavailable while it is away, keeps acknowledged records, and answers again without being reopened', async () => {
    const { config } = testDatabase(server.address);
    const { store } = await openAnalyticsStore(config);
    const delivery = (campaign_id: string) => ({
      organization_id: 'org',
      date: '2026-10-01',
      campaign_id,
      creative_id: 'r',
      impressions: 1,
    });
    const count = async () => {
      const { rows } = await store.query<{ count: number }>({
        name: 'test',
        sql: rawSql("SELECT count() AS count FROM creative_deliveries FINAL WHERE campaign_id != ''"),
        params: {},
      });
      return rows[0]?.count;
    };
    await store.insertDeliveries(accepted([delivery('kept')], 1));
    await server.kill();
    expect(await nameOf(store.ping())).to.equal('StoreUnavailableError');
    const lost = store.insertDeliveries(accepted([delivery('lost')], 1));
    expect(await nameOf(lost)).to.equal('StoreUnavailableError');
    await server.start();
    await store.ping();
    expect(await count()).to.equal(1);
    await store.insertDeliveries(accepted([delivery('more')], 1));
    expect(await count()).to.equal(2);
    await store.close();
  });
});

describe('ClickHouse over HTTP', () => {
  it('is opened only where it answers and takes the password', async () => {
    const { config } = testDatabase();
    const nobody = { ...config, urls: [`http://127.0.0.1:${await freePort()}`] };
    for (const each of [nobody, { ...config, password: 'wrong' }])
      expect(await nameOf(openAnalyticsStore(each))).to.equal('StoreUnavailableError');
  });

  it('is unavailable while a table is missing, and rejects no record', async () => {
    const { config, client } = testDatabase();
    const { store } = await openAnalyticsStore(config);
    const tables = `${config.database}_tables`;
    await client.command({ query: `RENAME TABLE ${tables}.creative_deliveries TO ${tables}.away` });
    const delivery = { organization_id: 'org', date: '2026-10-01', campaign_id: 'c', creative_id: 'r' };
    expect(await nameOf(store.insertDeliveries(accepted([delivery], 1)))).to.equal('StoreUnavailableError');
    await store.close();
  });

  it('says that a query takes too long', async () => {
    const { config } = testDatabase();
    const clickhouse = await openClickHouse({ ...config, timeoutMs: 300 });
    await clickhouse.createDatabase();
    const sql = 'SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1';
    expect(await nameOf(clickhouse.query({ name: 'test', sql: rawSql(sql), params: {} }))).to.equal(
      'StoreTimeoutError',
    );
    await clickhouse.close();
  });

  it('runs every query under the settings that results depend on', async () => {
    const { store } = await openAnalyticsStore(testDatabase().config);
    const { log_comment: _, ...settings } = commonSettings('test', DEFAULT_TIMEOUT_MS);
    const values = Object.entries(settings).map(([name, value]) =>
      typeof value === 'string'
        ? `getSetting('${name}') AS ${name}`
        : `toFloat64(getSetting('${name}')) AS ${name}`,
    );
    const { rows } = await store.query({
      name: 'test',
      sql: rawSql(`SELECT ${values.join(', ')}`),
      params: {},
    });
    expect(rows).to.deep.equal([settings]);
    await store.close();
  });

  it('is migrated once, however many processes start at the same time', async () => {
    const { config } = testDatabase();
    const clients = await Promise.all(Array.from({ length: 6 }, () => openClickHouse(config)));
    await Promise.all(clients.map((clickhouse) => migrate(clickhouse)));
    const [first] = clients;
    const { rows } = await (first as (typeof clients)[number]).query<{ name: string }>({
      name: 'test',
      sql: rawSql('SELECT DISTINCT name FROM schema_migrations ORDER BY name'),
      params: {},
    });
    expect(rows.map(({ name }) => name)).to.deep.equal(allMigrations().map(({ name }) => name));
    for (const clickhouse of clients) await clickhouse.close();
  });

  it('takes lists too long for an address', async () => {
    const { config } = testDatabase();
    const { store } = await openAnalyticsStore(config);
    const ids = Array.from({ length: 5000 }, (_, index) => `id '${index}' \\ é`);
    const { rows } = await store.query({
      name: 'test',
      sql: rawSql('SELECT length({ids:Array(String)}) AS length, {ids:Array(String)}[5000] AS last'),
      params: { ids },
    });
    expect(rows).to.deep.equal([{ length: 5000, last: ids.at(-1) }]);
    await store.close();
  });
});
