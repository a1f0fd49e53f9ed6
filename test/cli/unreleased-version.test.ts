/** Data of a version before the first release: nothing opens or changes it. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { sql } from '../../services/shared/sql.js';
import { migrate as migrateClickHouse } from '../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import { readMigrations } from '../../services/stores/common/migrations.js';
import { ANALYTICS_FOLDER, SEARCH_FILE } from '../../services/stores/data-folder/layout.js';
import { Connection } from '../../services/stores/sqlite/connection.js';
import { migrate as migrateSqlite } from '../../services/stores/sqlite/migrations/migrate.js';
import { tempFolder } from '../support/temp-folder.js';
import { run } from './support.js';

/** The first migration of each store as it was before the first release. */
const UNRELEASED = join(packageRoot, 'test/data/unreleased');
const REFUSED =
  'The data folder is from an unreleased version of Reachline: export its records with that version (reachline export), and load them with this one (reachline ingest) into an empty folder (REACHLINE_DATA_DIR). See docs/operating/upgrade.md.';

describe('A data folder of an unreleased version', function () {
  this.timeout(60_000);
  const dataDir = join(tempFolder(), 'data');
  const records = join(tempFolder(), 'contacts.ndjson');
  const env = { REACHLINE_DATA_DIR: dataDir, PORT: '0' };

  before(async () => {
    mkdirSync(dataDir);
    writeFileSync(records, '{"contact_id":"con_1","first_name":"Ann"}\n');
    const connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 2 });
    migrateSqlite(connection, join(UNRELEASED, 'sqlite'));
    connection.exec(sql`PRAGMA wal_checkpoint(TRUNCATE)`);
    connection.close();
    const clickhouse = await openClickHouse({ path: join(dataDir, ANALYTICS_FOLDER) });
    await migrateClickHouse(clickhouse, readMigrations(join(UNRELEASED, 'clickhouse')));
    await clickhouse.close();
  });

  /** Digests of the files of both stores. */
  const contents = () =>
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => path.endsWith(SEARCH_FILE) || path.includes(ANALYTICS_FOLDER))
      .map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]);

  it('is refused in one sentence that says how to move it, and is left as it is', async () => {
    const before = contents();
    expect(before).to.have.length.above(2);
    for (const args of [
      ['serve'],
      ['migrate'],
      ['keys', 'create', '--organization', 'org_a'],
      ['ingest', 'contacts', records, '--organization', 'org_a'],
      ['export', 'contacts', '--organization', 'org_a'],
    ]) {
      const refused = await run(args, { env });
      expect(refused, args.join(' ')).to.deep.equal({ code: 1, stdout: '', stderr: `${REFUSED}\n` });
    }
    const doctor = await run(['doctor'], { env });
    expect(doctor).to.include({ code: 1 });
    expect(doctor.stdout).to.contain(`✗ ${REFUSED}\n`);
    expect(contents()).to.deep.equal(before);
  });

  it('is also refused where it holds advertising alone', async () => {
    for (const name of [SEARCH_FILE, 'lock.db', 'last-time.json'])
      rmSync(join(dataDir, name), { force: true });
    expect(await run(['migrate'], { env })).to.include({ code: 1, stderr: `${REFUSED}\n` });
  });
});
