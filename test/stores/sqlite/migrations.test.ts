import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { sql } from '../../../services/shared/sql.js';
import { MigrationChangedError } from '../../../services/stores/common/migrations.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { migrate } from '../../../services/stores/sqlite/migrations/migrate.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('SQLite migrations', () => {
  const files = readdirSync(join(packageRoot, 'mappings', 'sqlite')).sort();
  const open = (folder = tempFolder()) => new Connection(join(folder, 'x.db'), { cacheMb: 2 });

  it('run once, in the order of their numbers, of which each has its own', () => {
    expect(new Set(files.map((name) => /^\d{4}(?=_\w+\.sql$)/.exec(name)?.[0])).size).to.equal(files.length);
    const connection = open();
    expect(migrate(connection)).to.deep.equal(files);
    expect(migrate(connection)).to.deep.equal([]);
    connection.close();
  });

  it('reject a database of another version, and say what to do', () => {
    const folder = tempFolder();
    cpSync(join(packageRoot, 'mappings', 'sqlite'), folder, { recursive: true });
    const connection = open();
    migrate(connection, folder);
    writeFileSync(join(folder, files[0] as string), '-- changed');
    expect(() => migrate(connection, folder)).to.throw(
      MigrationChangedError,
      `created by another version of Reachline (its ${files[0]} differs)`,
    );
    connection.close();
  });

  it('write nothing when one of them fails', () => {
    const folder = tempFolder();
    writeFileSync(
      join(folder, '0001_create_things.sql'),
      'CREATE TABLE things (a); CREATE TABLE things (a);',
    );
    const connection = open();
    expect(() => migrate(connection, folder)).to.throw();
    expect(connection.rows(sql`SELECT name FROM sqlite_schema WHERE type = 'table'`)).to.deep.equal([]);
    connection.close();
  });

  it('run once when several processes open a new folder at once', async () => {
    const dataDir = join(tempFolder(), 'new', 'folder');
    const stores = await Promise.all([
      openSqliteStore({ dataDir, searchThreads: 1 }),
      openSqliteStore({ dataDir, searchThreads: 1 }),
      openSqliteStore({ dataDir, searchThreads: 1 }),
    ]);
    const [first, admin, second] = stores;
    await first.setCredits('org', 5);
    expect(await admin.grantCredits('org', 1)).to.equal(6);
    expect(await second.getCredits('org')).to.equal(6);
    await Promise.all(stores.map((store) => store.close()));
  });
});
