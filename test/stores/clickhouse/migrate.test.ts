import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { statementsOf } from '../../../services/shared/sql.js';
import type { ClickHouse } from '../../../services/stores/clickhouse/client.js';
import { allMigrations, migrate } from '../../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../../services/stores/clickhouse/open.js';
import { type Migration, readMigrations } from '../../../services/stores/common/migrations.js';
import { rawSql } from '../../support/raw-sql.js';
import { tempFolder } from '../../support/temp-folder.js';

const FIRST = '0001_create_things.sql';
const SECOND = '0002_add_sizes.sql';

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
  afterEach(async () => {
    await clickhouse.command('test', rawSql('DROP TABLE IF EXISTS things'));
    await clickhouse.command('test', rawSql('TRUNCATE TABLE IF EXISTS schema_migrations'));
  });

  /** Reads the migrations of a folder of two, the second with the given statements. */
  function madeMigrations(): (second?: string) => Migration[] {
    const own = tempFolder();
    const table = 'CREATE TABLE IF NOT EXISTS things (a String) ENGINE = MergeTree ORDER BY a';
    writeFileSync(join(own, FIRST), table);
    return (second) => {
      if (second !== undefined) writeFileSync(join(own, SECOND), second);
      return readMigrations(own);
    };
  }
  const things = async () =>
    (await clickhouse.query({ name: 'test', sql: rawSql('SELECT * FROM things'), params: {} })).rows;

  it('are applied once, in order', async () => {
    const names = allMigrations().map(({ name }) => name);
    expect(await migrate(clickhouse)).to.deep.equal(names);
    expect(await migrate(clickhouse)).to.deep.equal([]);
  });

  it('that a crash left unrecorded are applied again without harm', async () => {
    expect(await migrate(clickhouse)).to.have.length(allMigrations().length);
  });

  it('of a later version run on what is stored, once when two processes apply them at once', async () => {
    const made = madeMigrations();
    expect(await migrate(clickhouse, made())).to.deep.equal([FIRST]);
    await clickhouse.command('test', rawSql("INSERT INTO things VALUES ('kept')"));
    const both = made('ALTER TABLE things ADD COLUMN IF NOT EXISTS size Int32 DEFAULT 1');
    for (const applied of await Promise.all([migrate(clickhouse, both), migrate(clickhouse, both)]))
      expect([[], [SECOND]]).to.deep.include(applied);
    expect(await migrate(clickhouse, both)).to.deep.equal([]);
    expect(await things()).to.deep.equal([{ a: 'kept', size: 1 }]);
  });

  it('that fail in the middle are not recorded, and run again when they are repaired', async () => {
    const made = madeMigrations();
    const column = 'ALTER TABLE things ADD COLUMN IF NOT EXISTS size Int32 DEFAULT 1';
    const failed = await migrate(clickhouse, made(`${column};\nALTER TABLE nothing DELETE WHERE 1`)).catch(
      (error: Error) => error.name,
    );
    expect(failed).to.equal('StoreUnavailableError');
    expect(await migrate(clickhouse, made(column))).to.deep.equal([FIRST, SECOND]);
    expect(await things()).to.deep.equal([]);
  });

  it('are refused on tables for which one of them had other content', async () => {
    const made = madeMigrations();
    await migrate(clickhouse, made());
    const [first] = made();
    const changed = [{ ...(first as Migration), checksum: 'other' }];
    const error = await migrate(clickhouse, changed).catch((caught: Error) => caught);
    expect(error).to.have.property('name', 'UnreleasedVersionError');
  });

  it('have numbers without gaps, a verb, and repeatable statements', () => {
    allMigrations().forEach(({ name, statements }, index) => {
      expect(name).to.match(/^\d{4}_[a-z]+_[a-z_]+\.sql$/);
      expect(Number(/\d{4}/.exec(name)?.[0])).to.equal(index + 1);
      for (const { text } of statementsOf(statements))
        expect(text).to.match(/ IF (NOT )?EXISTS |^ALTER TABLE .* (MODIFY SETTING|DELETE WHERE) /m);
    });
  });
});
