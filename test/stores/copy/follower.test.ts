import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { STREAMS } from '../../../ingest/streams/index.js';
import { Runner } from '../../../services/sql-endpoint/statement.js';
import { openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import { openStores } from '../../../services/stores/open-stores.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { erasure } from '../../contract/record-store-support.js';
import { testSqlFollower } from '../../contract/sql-follower.js';
import { accepted } from '../../support/accepted.js';
import { rawSql } from '../../support/raw-sql.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

const ORGANIZATION = 'org_one';

describe('The follower of the SQL copy in a data folder', function () {
  this.timeout(120_000);

  testSqlFollower(async (copies) => {
    const folder = tempFolder();
    const analytics = await openAnalyticsStore({ path: join(folder, 'analytics') });
    const records = await openSqliteStore({
      dataDir: join(folder, 'records'),
      searchProcesses: 1,
      hideInSql: async (...contacts) => copies()?.hide(...contacts),
    });
    const engine = await analytics.engine?.();
    if (!engine) throw new Error('no engine');
    return {
      records,
      analytics,
      folders: [folder],
      copies: 'default',
      tables: 'default',
      async ask<Row>(query: string): Promise<Row[]> {
        const result = await new Runner(engine).run({
          role: 'owner',
          database: 'reachline',
          settings: { output_format_json_quote_64bit_integers: '0' },
          params: {},
          sql: rawSql(query),
          format: 'JSON',
        });
        return (JSON.parse(Buffer.from(result.bytes()).toString()) as { data: Row[] }).data;
      },
    };
  });
});

describe('An erasure', function () {
  this.timeout(30_000);

  it('does not wait for the copy of a server that is no longer used', async () => {
    const records = await openSqliteStore({ dataDir: tempFolder(), searchProcesses: 1 });
    try {
      const contact = { organization_id: ORGANIZATION, contact_id: 'person' };
      await records.upsertContacts(accepted([contact] as never[], Date.now()));
      const position = (start: number) => ({ epoch: 'e', after: [start], start: [start] });
      for (const copy of [0, 1]) await records.copied.noteCopy?.(copy, 2, position(1));
      await records.eraseContacts(erasure(ORGANIZATION, 'era_1', ['person'], []));
      await records.copied.noteCopy?.(0, 1, position(1000));
      const isComplete = async () => {
        const { items } = await records.listErasures({ organizationId: ORGANIZATION, limit: 1 });
        return !items[0]?.includes('"completed_at":null');
      };
      await until(isComplete, 'the proof is complete');
    } finally {
      await records.close();
    }
  });
});

describe('A server that follows', function () {
  this.timeout(60_000);

  it('does not start the engine before there are records, and shows a contact within two seconds', async () => {
    const dataDir = tempFolder();
    const stores = await openStores(
      { dataDir, searchProcesses: 1 },
      { maintainsAnalytics: true, analyticsOnDemand: 'new' },
    );
    try {
      await stores.follower.run();
      expect(await stores.follower.followedAt()).to.be.a('number');
      expect(existsSync(join(dataDir, 'clickhouse'))).to.equal(false);
      await STREAMS.contacts.write(
        stores,
        accepted([{ organization_id: ORGANIZATION, contact_id: 'ann' }] as never[], Date.now()),
      );
      const shown = async () => {
        const { rows } = await stores.analytics.query<{ count: number }>({
          name: 'test',
          sql: rawSql('SELECT count() AS count FROM reachline.contacts'),
          params: {},
        });
        return Number(rows[0]?.count) === 1;
      };
      await until(shown, 'the contact is shown');
      expect(await stores.follower.followedAt()).to.be.a('number');
    } finally {
      await stores.close();
    }
  });
});
