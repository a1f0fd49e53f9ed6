import { createClient } from '@clickhouse/client';
import { expect } from 'chai';
import { openAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { run } from '../cli/support.js';
import { testSqlFollower } from '../contract/sql-follower.js';
import { accepted } from '../support/accepted.js';
import { rawSql } from '../support/raw-sql.js';
import { until } from '../support/until.js';
import { testDatabase } from './clickhouse/support.js';
import { openStore, testIndices } from './elasticsearch/support.js';
import { serverEnvironment } from './start-gateway.js';

const FOLDERS = ['TEST_ELASTICSEARCH_FOLDER', 'TEST_CLICKHOUSE_FOLDER'];

describe('The follower of the SQL copy on servers', function () {
  this.timeout(240_000);

  testSqlFollower(async (copies) => {
    const indices = testIndices();
    const database = testDatabase();
    const analytics = await openAnalyticsStore(database.config);
    const records = await openStore(indices.config, {
      copies,
      recoveryIntervalMs: 500,
      expungeIntervalMs: 0,
      takeoverMs: 0,
    });
    const { urls, username, password, database: views } = database.config;
    const client = createClient({ url: urls[0], username, password, database: views });
    return {
      records: {
        ...records,
        close: () => Promise.all([records.close(), client.close()]).then(() => undefined),
      },
      analytics,
      folders: FOLDERS.flatMap((name) => process.env[name] ?? []),
      copies: `${views}_copies`,
      tables: `${views}_tables`,
      async ask<Row>(query: string): Promise<Row[]> {
        const result = await client.query({
          query,
          format: 'JSON',
          clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
        });
        return (await result.json<Row>()).data;
      },
    };
  });
});

describe('Several processes on servers', function () {
  this.timeout(120_000);

  it('follow one at a time, and all of them and doctor know up to when', async () => {
    const indices = testIndices();
    const database = testDatabase();
    const config = {
      elasticsearch: indices.config,
      clickhouse: database.config,
      dataDir: '',
      searchProcesses: 1,
    };
    const all = await Promise.all([1, 2].map(() => openStores(config, { maintainsAnalytics: true })));
    try {
      const [{ records, analytics }] = all as [Stores, Stores];
      const shown = async (contactId: string) => {
        await records.upsertContacts(
          accepted([{ organization_id: 'o', contact_id: contactId }] as never[], Date.now()),
        );
        const query = rawSql(
          `SELECT contact_id FROM ${database.config.database}.contacts WHERE contact_id = {id:String}`,
        );
        const isShown = async () =>
          (await analytics.query({ name: 'test', sql: query, params: { id: contactId } })).rows.length === 1;
        await until(isShown, `${contactId} is shown`);
      };
      await shown('a');
      const holders = await Promise.all(all.map((each) => each.records.copied.holdsLease?.()));
      expect([...holders].sort()).to.deep.equal([false, true]);
      for (const { follower } of all) expect(await follower.followedAt()).to.be.above(Date.now() - 60_000);
      const doctor = await run(['doctor'], { env: serverEnvironment(indices.config, database.config) });
      expect(doctor.stdout).to.match(/SQL shows contacts and audiences as of 20/);
    } finally {
      await Promise.all(all.map((each) => each.close()));
    }
  });

  it('leave it to another one when the one that follows ends', async () => {
    const indices = testIndices();
    const database = testDatabase();
    const config = {
      elasticsearch: indices.config,
      clickhouse: database.config,
      dataDir: '',
      searchProcesses: 1,
    };
    const first = await openStores(config, { maintainsAnalytics: true });
    await until(async () => (await first.follower.followedAt()) !== null, 'the first one follows');
    const second = await openStores(config, { maintainsAnalytics: true });
    try {
      expect(await second.records.copied.holdsLease?.()).to.equal(false);
      await first.close();
      await until(
        async () => (await second.records.copied.holdsLease?.()) === true,
        'the second one follows',
      );
    } finally {
      await second.close();
    }
  });
});
