import { expect } from 'chai';
import type { ClickHouse } from '../../../services/stores/clickhouse/client.js';
import {
  commonMigrations,
  migrate,
  serverMigrations,
} from '../../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../../services/stores/clickhouse/open.js';
import { rawSql } from '../../support/raw-sql.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('ClickHouse migrations', () => {
  let folder: string;
  let clickhouse: ClickHouse;

  before(async () => {
    folder = tempFolder();
    clickhouse = await openClickHouse({ path: folder });
  });
  after(async () => {
    await clickhouse.close();
  });

  it('are applied once, in order', async () => {
    const names = commonMigrations().map(({ name }) => name);
    expect(await migrate(clickhouse)).to.deep.equal(names);
    expect(await migrate(clickhouse)).to.deep.equal([]);
  });

  it('that a crash left unrecorded are applied again without harm', async () => {
    await clickhouse.command('test', rawSql('TRUNCATE TABLE schema_migrations'));
    expect(await migrate(clickhouse)).to.have.length(commonMigrations().length);
  });

  it('of another version are rejected with a message that says what to do', async () => {
    const [first, ...rest] = commonMigrations();
    const changed = [
      { ...(first as ReturnType<typeof commonMigrations>[number]), checksum: 'other' },
      ...rest,
    ];
    const error = await migrate(clickhouse, changed).catch((caught: Error) => caught);
    expect(error).to.have.property('name', 'MigrationChangedError');
    expect((error as Error).message).to.contain('created by another version of Reachline');
    expect((error as Error).message).to.contain('CLICKHOUSE_DATABASE');
  });

  it('have numbers without gaps, a verb, and repeatable statements', () => {
    const common = commonMigrations();
    for (const migrations of [common, serverMigrations().slice(common.length)]) {
      expect(migrations).not.to.deep.equal([]);
      migrations.forEach(({ name, statements }, index) => {
        expect(name).to.match(/^(server\/)?\d{4}_[a-z]+_[a-z_]+\.sql$/);
        expect(Number(/\d{4}/.exec(name)?.[0])).to.equal(index + 1);
        expect(statements.text).to.match(
          / IF (NOT )?EXISTS |^ALTER TABLE .* (MODIFY SETTING|DELETE WHERE) /m,
        );
      });
    }
  });
});
