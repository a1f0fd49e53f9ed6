import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { accountStatements } from '../../../services/stores/clickhouse/account.js';
import { tempFolder } from '../../support/temp-folder.js';

const FIXTURE = fileURLToPath(new URL('./account.fixture.js', import.meta.url));

describe('The account of Reachline on a ClickHouse server', function () {
  this.timeout(60_000);

  it('may do all that migrations, reads and writes need, within its databases only', async () => {
    const folder = tempFolder();
    try {
      const { failed, denied, tried } = JSON.parse(
        execFileSync(process.execPath, [FIXTURE, folder], { encoding: 'utf8' }),
      ) as { failed: string[][]; denied: [string, string | null][]; tried: number };
      expect(failed).to.deep.equal([]);
      expect(tried).to.be.above(30);
      expect(denied).to.have.lengthOf(10);
      for (const [sql, error] of denied) expect(error, sql).to.match(/ACCESS_DENIED|READONLY/);
    } finally {
    }
  });

  it('is created without its password appearing in a statement', () => {
    const layout = { tables: 'r_tables', views: 'r', copies: 'r_copies', isReplicated: false };
    const statements = accountStatements(layout, { username: 'app', password: 'secret' }).map(
      ({ text }) => text,
    );
    expect(statements.join('\n')).not.to.contain('secret');
    expect(statements[0]).to.equal(
      "CREATE USER IF NOT EXISTS `app` IDENTIFIED WITH sha256_hash BY '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'",
    );
    expect(statements.slice(2)).to.deep.equal([
      'GRANT SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW ON r_tables.* TO `app`',
      'GRANT SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW ON r_copies.* TO `app`',
      'GRANT SELECT, CREATE DATABASE, CREATE VIEW, DROP VIEW ON r.* TO `app`',
      'GRANT SELECT ON system.parts TO `app`',
    ]);
  });
});
