import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { literal } from '../../../services/stores/clickhouse/bind.js';
import type { Layout } from '../../../services/stores/clickhouse/client.js';
import { serverMigrations } from '../../../services/stores/clickhouse/migrations/migrate.js';
import { render } from '../../../services/stores/clickhouse/migrations/render.js';
import { openClickHouse } from '../../../services/stores/clickhouse/open.js';
import { readMigrations } from '../../../services/stores/common/migrations.js';
import { tempFolder } from '../../support/temp-folder.js';

const LAYOUT = {
  tables: 'reachline_tables',
  views: 'reachline',
  copies: 'reachline_copies',
  cluster: 'main',
};
const ACCESS = join(packageRoot, 'mappings/clickhouse/access');

const rendered = (layout: Layout = LAYOUT) =>
  [...serverMigrations(), ...readMigrations(ACCESS)].map(({ sql }) => render(sql, layout));

describe('ClickHouse migrations in a cluster', () => {
  it('differ from those of one server in the cluster and the replicated engine alone', () => {
    const alone = rendered({ ...LAYOUT, cluster: null }).map((sql) => sql.replaceAll(/^--.*\n/gm, ''));
    const clustered = rendered().map((sql) =>
      sql.replace(' ON CLUSTER `main`', '').replace(/^ENGINE = Replicated/m, 'ENGINE = '),
    );
    expect(clustered).to.deep.equal(alone);
    expect(clustered.join()).not.to.contain('{{');
    const views = clustered.filter((sql) => sql.startsWith('CREATE VIEW'));
    for (const sql of views) expect(sql).to.match(/^CREATE VIEW IF NOT EXISTS reachline\.\w+\s/);
    expect(views).not.to.be.empty;
    expect(clustered.filter((sql) => /^(?:GRANT|CREATE ROW POLICY)/.test(sql)).join()).to.contain(
      'ON reachline_tables.*',
    );
  });

  it('replicate every table that keeps rows, on every node', () => {
    for (const statement of rendered()) {
      expect(statement).to.contain('ON CLUSTER `main`');
      if (statement.startsWith('CREATE TABLE'))
        expect(statement).to.match(/^ENGINE = (Replicated\w*MergeTree\b|Null$)/m);
    }
  });

  it('are understood by the engine', async () => {
    const clickhouse = await openClickHouse({ path: tempFolder() });
    try {
      for (const statement of rendered()) {
        const query = `SELECT formatQuerySingleLine(${literal(statement)}) AS text`;
        const { rows } = await clickhouse.query<{ text: string }>({ name: 'test', sql: query, params: {} });
        expect(rows[0]?.text).to.contain('ON CLUSTER main');
      }
    } finally {
      await clickhouse.close();
    }
  });

  it('are rejected without a form for clusters', () => {
    expect(() => render('ALTER TABLE campaigns DROP COLUMN name', LAYOUT)).to.throw(
      'has no form for clusters',
    );
  });
});
