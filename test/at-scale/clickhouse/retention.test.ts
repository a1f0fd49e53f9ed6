import { expect } from 'chai';
import { openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import { visitRetention } from '../../contract/visit-retention.js';
import { accepted } from '../../support/accepted.js';
import { rawSql } from '../../support/raw-sql.js';
import { startHttpProxy } from '../elasticsearch/http-proxy.js';
import { testDatabase } from './support.js';

describe('Visits that SQL reads on a ClickHouse server', () => {
  visitRetention(async () => {
    const { store } = await openAnalyticsStore(testDatabase().config);
    return {
      insertVisits: (records) => store.insertVisits(records),
      countVisitsBefore: (createdMs) => store.countVisitsBefore(createdMs),
      deleteAllBefore: (createdMs) => store.deleteVisitsBefore(createdMs),
      async left(organizationId) {
        const { rows } = await store.query<{ moment: number }>({
          name: 'test',
          sql: rawSql(`SELECT toUnixTimestamp64Milli(created_at) AS moment FROM website_visits FINAL
WHERE organization_id = {o:String} ORDER BY moment`),
          params: { o: organizationId },
        });
        return rows.map(({ moment }) => Number(moment));
      },
      close: () => store.close(),
    };
  });

  it('are dropped however large a month is, and although another month cannot be dropped', async () => {
    const { config } = testDatabase();
    const proxy = await startHttpProxy({ nodes: config.urls });
    // Makes the server refuse such months, like a server with a lower default.
    proxy.decide = ({ path, body }) =>
      body.includes('DROP PARTITION 202101') ? 'cut' : { path: `${path}&max_partition_size_to_drop=1` };
    const warnings: object[] = [];
    const log = { info: () => undefined, warn: (details: object) => warnings.push(details) };
    const { store } = await openAnalyticsStore({ ...config, urls: proxy.config.nodes }, undefined, log);
    try {
      const organizationId = 'org_large';
      const visits = ['2021-01-05', '2021-02-05', '2021-03-05'].map((day) => ({
        organizationId,
        id: day,
        createdAt: `${day}T00:00:00Z`,
        audienceId: 'a',
        startUrl: 'https://a.example/',
        country: 'Germany',
        hasRecording: true,
        intentScore: 80,
      }));
      await store.insertVisits(accepted(visits, Date.UTC(2026, 0, 1)));
      const left = async () => {
        const { rows } = await store.query<{ id: string }>({
          name: 'test',
          sql: rawSql('SELECT visit_id AS id FROM website_visits FINAL ORDER BY id'),
          params: {},
        });
        return rows.map(({ id }) => id);
      };
      const failure = await store.deleteVisitsBefore(Date.UTC(2021, 2, 1)).then(
        () => 'none',
        (error: Error) => error.name,
      );
      expect(failure).to.equal('StoreUnavailableError');
      expect(await left()).to.deep.equal(['2021-01-05', '2021-03-05']);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include({ table: 'website_visits', month: '2021-01-01' });
      proxy.decide = ({ path }) => ({ path: `${path}&max_partition_size_to_drop=1` });
      await store.deleteVisitsBefore(Date.UTC(2021, 2, 1));
      expect(await left()).to.deep.equal(['2021-03-05']);
    } finally {
      await store.close();
    }
  });
});
