import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { issueKey } from '../../services/accounts/keys.js';
import { packageRoot } from '../../services/shared/fs.js';
import type { SqlEndpoint } from '../../services/sql-endpoint/server.js';
import { startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import type { ClickHouse } from '../../services/stores/clickhouse/client.js';
import { migrate } from '../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import { openSqliteStore } from '../../services/stores/sqlite/store.js';
import { rawSql } from '../support/raw-sql.js';
import { tempFolder } from '../support/temp-folder.js';

/** The lines of a file, split at tabs. */
const statements = (file: string) =>
  readFileSync(join(packageRoot, 'test/data/sql', file), 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('-- '))
    .map((line) => line.split('\t'));

describe('the SQL endpoint for analysts', () => {
  let folder: string;
  let clickhouse: ClickHouse;
  let records: RecordStore;
  let endpoint: SqlEndpoint;
  let key: string;
  /** Counts the requests of the engine to the outside. */
  let outside: Server;
  let fetched = 0;
  let tables: string[];

  before(async () => {
    folder = tempFolder();
    writeFileSync(join(folder, 'secret.csv'), 'secret\n');
    clickhouse = await openClickHouse({ path: join(folder, 'clickhouse') });
    await migrate(clickhouse);
    // Each insert makes a part of its own, so that the views have to leave out the older row.
    for (const values of ["'c', 'r', 1, 1", "'c', 'r', 7, 2"]) {
      await clickhouse.command(
        'test',
        rawSql(
          `INSERT INTO deliveries (organization_id, date, campaign_id, creative_id, impressions, version) VALUES ('org', '2026-10-01', ${values})`,
        ),
      );
    }
    if (!clickhouse.engine) throw new Error('no engine');
    records = await openSqliteStore({ dataDir: join(folder, 'search'), searchProcesses: 1 });
    key = await issueKey(records, { organizationId: 'org' });
    endpoint = await startSqlEndpoint({ engine: clickhouse.engine, records, port: 0 });
    tables = await tableNames();
    outside = createServer((_, response) => {
      fetched++;
      response.end('1\n');
    });
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    outside.close();
    await endpoint.close();
    await records.close();
    await clickhouse.close();
  });

  const ask = async (query: string, parameters: Record<string, string> = {}) => {
    const address = `${endpoint.url}/?${new URLSearchParams({ password: key, ...parameters })}`;
    const answer = await fetch(address, { method: 'POST', body: query });
    return {
      status: answer.status,
      code: answer.headers.get('x-clickhouse-exception-code'),
      text: await answer.text(),
    };
  };
  const stored = async () => {
    const { rows } = await clickhouse.query<{ count: number; sum: number }>({
      name: 'test',
      sql: rawSql(
        "SELECT count() AS count, sum(impressions) AS sum FROM creative_deliveries FINAL WHERE campaign_id != ''",
      ),
      params: {},
    });
    return rows;
  };

  const tableNames = async () => {
    const { rows } = await clickhouse.query<{ name: string }>({
      name: 'test',
      sql: rawSql(
        "SELECT concat(database, '.', name) AS name FROM system.tables WHERE database IN ('default', 'reachline') ORDER BY name",
      ),
      params: {},
    });
    return rows.map(({ name }) => name);
  };

  for (const [query = '', expected = '', parameters] of statements('allowed.sql')) {
    it(`answers ${query}`, async () => {
      const { status, text } = await ask(query, parameters && JSON.parse(parameters));
      expect(status, text).to.equal(200);
      if (expected.startsWith('/')) expect(text).to.match(new RegExp(expected.slice(1, -1)));
      else expect(text).to.equal(JSON.parse(expected));
    });
  }

  it('answers statements of every length up to 100 000 characters', async () => {
    for (const count of [10, 200, 600, 3000]) {
      const ids = Array.from({ length: count }, (_, index) => `'con_${String(index).padStart(26, '0')}'`);
      const numbers = Array.from({ length: 5 * count }, (_, index) => index);
      for (const list of [ids, numbers]) {
        const query = `SELECT count() FROM campaigns WHERE ${list === ids ? 'campaign_id' : 'length(campaign_id)'} IN (${list.join(',')})`;
        expect(query.length).to.be.below(100_000);
        const { status, text } = await ask(query);
        expect(status, `${query.length} characters: ${text.slice(0, 200)}`).to.equal(200);
      }
    }
  });

  it('answers a Content-Encoding that only objects have, and those after it', async () => {
    for (const encoding of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'br, gzip']) {
      const address = `${endpoint.url}/?${new URLSearchParams({ password: key })}`;
      const answer = await fetch(address, {
        method: 'POST',
        body: 'SELECT 1',
        headers: { 'Content-Encoding': encoding },
      });
      expect(answer.headers.get('x-clickhouse-exception-code'), await answer.text()).to.equal('89');
    }
    expect((await ask('SELECT 1')).text).to.equal('1\n');
  });

  const rejected = statements('rejected.sql').map(([text = '', parameters]) => [
    text.startsWith('"') ? JSON.parse(text) : text,
    parameters && JSON.parse(parameters),
  ]);
  const LONG = 'a?'.repeat(501);
  const long: [statement: string, parameters?: object][] = [
    [`SELECT extractAll('a', '${LONG}')`],
    [`SELECT COLUMNS('${LONG}') FROM campaigns`],
    [`SELECT c.columns('${LONG}') FROM campaigns AS c`],
    [`SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`],
    [''],
  ];

  for (const [statement, parameters] of [...rejected, ...long]) {
    it(`rejects ${statement.slice(0, 90)} ${parameters ? JSON.stringify(parameters) : ''}`, async () => {
      const { port } = outside.address() as AddressInfo;
      const query = statement
        .replaceAll('@secret@', join(folder, 'secret.csv'))
        .replaceAll('@folder@', folder)
        .replaceAll('@address@', `http://127.0.0.1:${port}/`);
      const { status, code, text } = await ask(query, parameters);
      expect(status, text).to.be.greaterThanOrEqual(400);
      expect(Number(code)).to.be.greaterThan(0);
      expect(text).to.match(new RegExp(`^Code: ${code}\\. DB::Exception: `));
      expect(text).not.to.contain('secret\n');
    });
  }

  it('still works after all of them', async () => {
    expect(await stored()).to.deep.equal([{ count: 1, sum: 7 }]);
    expect(await tableNames()).to.deep.equal(tables);
    expect(fetched).to.equal(0);
    expect(existsSync(join(folder, 'written'))).to.equal(false);
    expect(readdirSync(folder).sort()).to.deep.equal(['clickhouse', 'search', 'secret.csv']);
  });

  it('evaluates no condition of a statement on tables that are out of sight', async () => {
    const { text } = await ask(
      'SELECT name FROM system.tables WHERE toUInt8(name) = 1 OR toUInt8(arrayStringConcat(data_paths)) = 1',
    );
    expect(text)
      .to.match(/Cannot parse/)
      .and.not.to.match(/deliveries|clickhouse\//);
  });

  it('rejects writes with code 164, and files, hosts and tables with 497', async () => {
    expect((await ask('DROP TABLE default.deliveries')).code).to.equal('164');
    expect((await ask("SELECT * FROM file('x')")).code).to.equal('497');
    expect((await ask('SELEKT 1')).code).to.equal('62');
    expect((await ask('SELEKT 1')).text).not.to.contain('formatQuery');
    expect((await ask('SELECT * FROM nothing')).code).to.equal('60');
  });
});
