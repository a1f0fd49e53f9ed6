import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { fromJson } from '../../../services/shared/json.js';
import { sql } from '../../../services/shared/sql.js';
import { UnreleasedVersionError } from '../../../services/stores/common/migrations.js';
import { SEARCH_FILE } from '../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { migrate } from '../../../services/stores/sqlite/migrations/migrate.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { toVisit } from '../../../services/visits/stored-visit.js';
import { accepted } from '../../support/accepted.js';
import { tempFolder } from '../../support/temp-folder.js';

const FIRST = '0001_create_things.sql';
const SECOND = '0002_add_sizes.sql';
const PROCESS = fileURLToPath(new URL('./migrate.fixture.js', import.meta.url));

describe('A data folder from before visits had a company', () => {
  it('migrates: its visits answer null, and later visits have their company', async () => {
    const dataDir = tempFolder();
    const older = tempFolder();
    const current = join(packageRoot, 'mappings', 'sqlite');
    for (const file of readdirSync(current).filter((name) => name < '0014'))
      copyFileSync(join(current, file), join(older, file));
    const connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 2 });
    migrate(connection, older);
    const createdAt = '2026-01-02T00:00:00.000Z';
    const { companyDomain: _, ...visit } = toVisit(
      { id: 'v1', organizationId: 'org', browser: 'B "x"', createdAt },
      Date.parse(createdAt),
    );
    connection.run(sql`INSERT INTO organizations (id, visits) VALUES ('org', 1)`);
    connection.run(
      sql`INSERT INTO visits (organization, created_ms, id, body) VALUES (1, ?, 'v1', ?)`,
      Date.parse(createdAt),
      JSON.stringify(visit),
    );
    connection.close();
    const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
    await store.insertVisits(
      accepted([{ id: 'v2', organizationId: 'org', createdAt, companyDomain: 'acme.example' }], 1),
    );
    const search = { organizationId: 'org', limit: 9 };
    const { items } = await store.searchVisits(search);
    expect(items.map((item) => fromJson(item).companyDomain)).to.deep.equal(['acme.example', null]);
    expect(fromJson(items[1] as (typeof items)[0])).to.deep.equal({ ...visit, companyDomain: null });
    const found = await store.searchVisits({ ...search, companyDomain: 'acme.example' });
    expect([found.total, found.items]).to.deep.equal([1, items.slice(0, 1)]);
    await store.close();
  });
});

describe('SQLite migrations', () => {
  const open = (folder = tempFolder()) => new Connection(join(folder, 'x.db'), { cacheMb: 2 });

  /** A folder with the first of two migrations. */
  function made(): string {
    const folder = tempFolder();
    writeFileSync(join(folder, FIRST), "CREATE TABLE things (a); INSERT INTO things VALUES ('kept');");
    return folder;
  }
  const add = (folder: string, statements: string) => writeFileSync(join(folder, SECOND), statements);
  const things = (connection: Connection) => connection.rows(sql`SELECT * FROM things`);

  it('run once, in the order of their numbers, of which each has its own', () => {
    const files = readdirSync(join(packageRoot, 'mappings', 'sqlite')).sort();
    expect(new Set(files.map((name) => /^\d{4}(?=_\w+\.sql$)/.exec(name)?.[0])).size).to.equal(files.length);
    const connection = open();
    expect(migrate(connection)).to.deep.equal(files);
    expect(migrate(connection)).to.deep.equal([]);
    connection.close();
  });

  it('are the same once their comments are reworded', () => {
    const folder = made();
    const connection = open();
    expect(migrate(connection, folder)).to.deep.equal([FIRST]);
    const text = readFileSync(join(folder, FIRST), 'utf8');
    writeFileSync(join(folder, FIRST), `-- What things are;\n${text}`);
    expect(migrate(connection, folder)).to.deep.equal([]);
    writeFileSync(join(folder, FIRST), text.replace('kept', 'other'));
    expect(() => migrate(connection, folder)).to.throw(UnreleasedVersionError);
    connection.close();
  });

  it('of a later version run on what is stored', () => {
    const folder = made();
    const connection = open();
    expect(migrate(connection, folder)).to.deep.equal([FIRST]);
    add(folder, 'ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 1;');
    expect(migrate(connection, folder)).to.deep.equal([SECOND]);
    expect(things(connection)).to.deep.equal([['kept', 1n]]);
    connection.close();
  });

  it('change nothing if one of them fails, and run when they are repaired', () => {
    const folder = made();
    const connection = open();
    add(folder, 'CREATE TABLE others (a); CREATE TABLE others (a);');
    expect(() => migrate(connection, folder)).to.throw();
    expect(connection.rows(sql`SELECT name FROM sqlite_schema WHERE type = 'table'`)).to.deep.equal([]);
    add(folder, 'CREATE TABLE others (a);');
    expect(migrate(connection, folder)).to.deep.equal([FIRST, SECOND]);
    expect(things(connection)).to.deep.equal([['kept']]);
    connection.close();
  });

  it('run once when two processes apply them at once', async () => {
    const folder = made();
    const data = tempFolder();
    const first = open(data);
    migrate(first, folder);
    add(folder, 'ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 1;');
    // Both processes wait for the write lock, which this connection holds until both have started.
    first.exec(sql`BEGIN IMMEDIATE`);
    const processes = [1, 2].map(() => fork(PROCESS, [join(data, 'x.db'), folder]));
    const messages = () =>
      Promise.all(processes.map(async (each) => (await once(each, 'message'))[0] as string | string[]));
    expect(await messages()).to.deep.equal(['ready', 'ready']);
    first.exec(sql`COMMIT`);
    expect((await messages()).flat()).to.deep.equal([SECOND]);
    expect(things(first)).to.deep.equal([['kept', 1n]]);
    first.close();
  });

  it('run once when several stores open a new folder at once', async () => {
    const dataDir = join(tempFolder(), 'new', 'folder');
    const stores = await Promise.all([
      openSqliteStore({ dataDir, searchProcesses: 1 }),
      openSqliteStore({ dataDir, searchProcesses: 1 }),
      openSqliteStore({ dataDir, searchProcesses: 1 }),
    ]);
    const [first, admin, second] = stores;
    await first.setCredits('org', 5);
    expect(await admin.grantCredits('org', 1)).to.equal(6);
    expect(await second.getCredits('org')).to.equal(6);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('are refused on a database in which one of them has other content', () => {
    const folder = made();
    const connection = open();
    migrate(connection, folder);
    writeFileSync(join(folder, FIRST), '-- changed');
    expect(() => migrate(connection, folder)).to.throw(UnreleasedVersionError);
    expect(things(connection)).to.deep.equal([['kept']]);
    connection.close();
  });
});
