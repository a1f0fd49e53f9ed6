import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { readSqlFile, sql, textLiteral } from '../../../services/shared/sql.js';
import { allMigrations } from '../../../services/stores/clickhouse/migrations/migrate.js';
import { type IdOfTable, render } from '../../../services/stores/clickhouse/migrations/render.js';
import { openClickHouse } from '../../../services/stores/clickhouse/open.js';
import { tempFolder } from '../../support/temp-folder.js';

const LAYOUT = {
  tables: 'reachline_tables',
  views: 'reachline',
  copies: 'reachline_copies',
  isReplicated: false,
};
const ID = '00000000-0000-4000-8000-000000000000';
const ACCESS = join(packageRoot, 'mappings/clickhouse/access.sql');

const rendered = (idOf?: IdOfTable) =>
  [...allMigrations().map(({ statements }) => statements), readSqlFile(ACCESS)].flatMap((file) =>
    render(file, LAYOUT, idOf).map(({ text }) => text),
  );
const replicas = () => rendered(() => ID);

describe('ClickHouse migrations of replicas', () => {
  it('differ from those of one server only in tables that keep what is inserted', () => {
    const alone = rendered();
    const replicated: (string | undefined)[] = [];
    replicas().forEach((sql, index) => {
      expect(sql).not.to.contain('{{').and.not.to.contain('ON CLUSTER');
      if (sql === alone[index]) return;
      replicated.push(/^CREATE TABLE IF NOT EXISTS (\w+) UUID/m.exec(sql)?.[1]);
      const single = sql
        .replace(` UUID '${ID}'`, '')
        .replace(/^ENGINE = Replicated/m, 'ENGINE = ')
        .replace(', min_compressed_bytes_to_fsync_after_fetch = 1', '');
      expect(single).to.equal(alone[index]);
    });
    const kept = alone.flatMap((sql) =>
      /^ENGINE = \w*MergeTree/m.test(sql) ? (/^CREATE TABLE IF NOT EXISTS (\w+)/m.exec(sql)?.[1] ?? []) : [],
    );
    // Each replica gets a copy of these tables.
    expect(replicated).to.deep.equal(kept.filter((table) => table !== 'contacts' && table !== 'audiences'));
  });

  it('are understood by the engine', async () => {
    const clickhouse = await openClickHouse({ path: tempFolder() });
    try {
      for (const statement of replicas()) {
        const query = sql`SELECT formatQuerySingleLine(${textLiteral(statement)}) AS text`;
        await clickhouse.query<{ text: string }>({ name: 'test', sql: query, params: {} });
      }
    } finally {
      await clickhouse.close();
    }
  });
});
