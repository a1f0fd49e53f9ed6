import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import type { SqlEndpoint } from '../../services/sql-endpoint/server.js';
import { startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import type { ClickHouse } from '../../services/stores/clickhouse/client.js';
import { migrate } from '../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import { tempFolder } from '../support/temp-folder.js';

const PASSWORD = 'analysts';

describe('the SQL endpoint for analysts', () => {
  let folder: string;
  let clickhouse: ClickHouse;
  let endpoint: SqlEndpoint;
  /** Counts what the engine would fetch. */
  let outside: Server;
  let fetched = 0;
  let tables: string[];

  before(async () => {
    folder = tempFolder();
    writeFileSync(join(folder, 'secret.csv'), 'secret\n');
    clickhouse = await openClickHouse({ path: join(folder, 'clickhouse') });
    await migrate(clickhouse);
    await clickhouse.command(
      'test',
      "INSERT INTO deliveries (organization_id, date, campaign_id, creative_id, impressions, version) VALUES ('org', '2026-10-01', 'c', 'r', 1, 1), ('org', '2026-10-01', 'c', 'r', 7, 2)",
    );
    if (!clickhouse.engine) throw new Error('no engine');
    tables = await tableNames();
    endpoint = await startSqlEndpoint({ engine: clickhouse.engine, port: 0, password: PASSWORD });
    outside = createServer((_, response) => {
      fetched++;
      response.end('1\n');
    });
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    outside.close();
    await endpoint.close();
    await clickhouse.close();
  });

  const ask = async (query: string, parameters: Record<string, string> = {}) => {
    const address = `${endpoint.url}/?${new URLSearchParams({ password: PASSWORD, ...parameters })}`;
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
      sql: "SELECT count() AS count, sum(impressions) AS sum FROM creative_deliveries FINAL WHERE campaign_id != ''",
      params: {},
    });
    return rows;
  };

  const tableNames = async () => {
    const { rows } = await clickhouse.query<{ name: string }>({
      name: 'test',
      sql: "SELECT concat(database, '.', name) AS name FROM system.tables WHERE database IN ('default', 'reachline') ORDER BY name",
      params: {},
    });
    return rows.map(({ name }) => name);
  };

  const ALLOWED: [query: string, answer: string | RegExp, parameters?: Record<string, string>][] = [
    ['SELECT impressions FROM campaign_daily', '7\n'],
    ["SELECT 'a;b' /* ; DROP TABLE x */ -- ; end", 'a;b\n'],
    ['SELECT count() FROM reachline.creative_daily;', '1\n'],
    ['select Count() from `reachline`.`campaigns`', '0\n'],
    [
      "WITH x AS (SELECT 'settings; file() into outfile' AS y) SELECT y FROM x",
      'settings; file() into outfile\n',
    ],
    ['SELECT sum(number) FROM numbers(10) WHERE number IN (SELECT toUInt64(2))', '2\n'],
    [
      'SELECT sumIf(number, number > 8), quantilesExactIf(0.5)(number, number < 3), uniqExactIf(number, 1) FROM numbers(10)',
      '9\t[1]\t10\n',
    ],
    [
      "SELECT arrayMap(x -> x + 1, [1]), CASE WHEN 1 THEN 2 ELSE 3 END, toDate32(0)::String, CAST(1, 'String')",
      '[2]\t2\t1970-01-01\t1\n',
    ],
    [
      'SELECT row_number() OVER (PARTITION BY number % 2 ORDER BY number) AS r FROM numbers(2) ORDER BY r LIMIT 1 BY r',
      '1\n',
    ],
    ['SELECT 1 UNION ALL SELECT 1', '1\n1\n'],
    [
      "SELECT 'Spring sale' ILIKE {p:String}, match('abc', concat('^', lower('AB'))), 'x' NOT LIKE '%y%', 'a-b' REGEXP 'a.b'",
      '1\t1\t1\t1\n',
      { param_p: '%SALE%' },
    ],
    ["SELECT splitByRegexp('[,;]', 'a,b;c'), countMatches('aXbX', 'X')", "['a','b','c']\t2\n"],
    ['(SELECT 1) EXCEPT (SELECT 2)', '1\n'],
    ['SELECT {x:Array(UInt8)}[2]', '6\n', { param_x: '[5,6]' }],
    ['SELECT impressions FROM {t:Identifier}', '7\n', { param_t: 'campaign_daily' }],
    ['SELECT 1 AS a FORMAT JSONCompactEachRow', '[1]\n'],
    [
      'SELECT [1, 2], toDecimal256(1.5, 3)',
      '[1,2]\t1.5\n',
      { output_format_json_quote_decimals: '1', max_threads: '1' },
    ],
    ['SHOW TABLES', /^campaign_daily\ncampaigns\n/],
    ["SHOW TABLES FROM reachline LIKE 'comp%'", 'companies\ncompany_daily\n'],
    ['SHOW DATABASES', /reachline/],
    ['SHOW CREATE TABLE reachline.campaign_daily', /^CREATE VIEW/],
    ['DESCRIBE TABLE reachline.campaign_daily', /^organization_id\tString/],
    ['DESC campaigns', /^organization_id\t/],
    ['EXISTS TABLE reachline.campaigns', '1\n'],
    [
      "SELECT name, comment FROM system.columns WHERE database = 'reachline' AND table = 'campaigns' LIMIT 1",
      /^organization_id\t/,
    ],
    ["SELECT name FROM system.tables WHERE database = 'reachline' ORDER BY name LIMIT 1", 'campaign_daily\n'],
    ["SELECT value FROM system.settings WHERE name = 'readonly'", '1\n'],
    [
      "SELECT value FROM system.settings WHERE name = 'max_block_size'",
      '1024\n',
      { max_block_size: '65536' },
    ],
    ["SELECT value FROM system.settings WHERE name = 'max_block_size'", '10\n', { max_block_size: '10' }],
    // What drivers and BI tools ask.
    ['SELECT displayName(), timezone(), revision() > 54460', 'reachline\tUTC\t1\n'],
    ['SELECT database(), CURRENT_DATABASE(), schema(), user()', 'reachline\treachline\treachline\tdefault\n'],
    ['SELECT currentDatabase()', 'reachline\n', { database: 'default' }],
    ['SELECT 1', '1\n', { async_insert: '0', select_sequential_consistency: '1', wait_end_of_query: '0' }],
    ['SELECT number FROM numbers(3000)', /^0\n/, { max_result_rows: '10', result_overflow_mode: 'break' }],
    ['DESCRIBE (SELECT impressions FROM campaign_daily)', /^impressions\tUInt64/],
    ['DESCRIBE TABLE (SELECT 1 AS a) FORMAT JSONCompactEachRow', /^\["a", "UInt8"/],
    ['EXPLAIN SELECT 1', /ReadFrom/],
    ['EXPLAIN PLAN actions = 1, header = 1 SELECT clicks FROM campaign_daily WHERE clicks > 1', /ReadFrom/],
    ['EXPLAIN SYNTAX SELECT 1 + 1', /SELECT/],
    ['EXPLAIN PIPELINE WITH 1 AS x SELECT x', /\w/],
    ['SELECT DISTINCT campaign_id FROM campaigns SETTINGS max_execution_time = 10', ''],
    [
      "SELECT value FROM system.settings WHERE name = 'max_threads' SETTINGS max_threads = 1 FORMAT JSONCompactEachRow",
      '["1"]\n',
    ],
    ["SELECT 'a SETTINGS b = 1' AS `SETTINGS c = 1` SETTINGS max_threads = 1", 'a SETTINGS b = 1\n'],
    ["SHOW FUNCTIONS LIKE 'sumKahan'", /^sumKahan\t/],
    ["SHOW SETTINGS LIKE 'max_result_rows'", 'max_result_rows\tUInt64\t1000000\n'],
    ['SHOW INDEXES FROM campaigns', /PRIMARY/],
    ['SHOW INDEXES FROM deliveries FROM default', ''],
    ['SHOW TABLES FROM default', ''],
    ['SHOW COLUMNS FROM deliveries FROM default', ''],
    ["SELECT count() FROM system.columns WHERE database = 'default'", '0\n'],
    ["SELECT count() FROM information_schema.tables WHERE table_schema = 'default'", '0\n'],
    ['SELECT DISTINCT data_paths FROM system.tables', '[]\n'],
    [
      "SELECT system.tables.name FROM system.tables WHERE system.tables.database = 'reachline' AND empty(system.tables.data_paths) ORDER BY 1 LIMIT 1",
      'campaign_daily\n',
    ],
    [
      "SELECT t.name FROM system.tables t JOIN system.databases d ON system.tables.database = system.databases.name WHERE t.name = 'creatives'",
      'creatives\n',
    ],
    ["SELECT name AS TABLE_NAME, * FROM system.tables WHERE database = 'reachline' LIMIT 1", /^campaign/],
    [
      "SELECT CAST(name, 'Nullable(String)') AS TABLE_NAME FROM system.tables WHERE (1 == 1) AND coalesce(TABLE_NAME, '') LIKE 'campaigns'",
      /campaigns/,
      { default_format: 'ODBCDriver2' },
    ],
    [
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'reachline' AND table_name = 'campaigns'",
      'campaigns\n',
    ],
  ];
  for (const [query, expected, parameters] of ALLOWED) {
    it(`answers ${query}`, async () => {
      const { status, text } = await ask(query, parameters);
      expect(status, text).to.equal(200);
      if (typeof expected === 'string') expect(text).to.equal(expected);
      else expect(text).to.match(expected);
    });
  }

  it('answers a Content-Encoding that only objects have, and those after it', async () => {
    for (const encoding of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'br, gzip']) {
      const address = `${endpoint.url}/?${new URLSearchParams({ password: PASSWORD })}`;
      const answer = await fetch(address, {
        method: 'POST',
        body: 'SELECT 1',
        headers: { 'Content-Encoding': encoding },
      });
      expect(answer.headers.get('x-clickhouse-exception-code'), await answer.text()).to.equal('89');
    }
    expect((await ask('SELECT 1')).text).to.equal('1\n');
  });

  /** Statements, one on each line, as JSON where it holds other white space, with its parameters as JSON behind a tab. */
  const REJECTED = readFileSync(join(packageRoot, 'test/data/sql/rejected.sql'), 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('-- '))
    .map((line): [statement: string, parameters?: Record<string, string>] => {
      const [statement = '', parameters] = line.split('\t');
      return [
        statement.startsWith('"') ? JSON.parse(statement) : statement,
        parameters === undefined ? undefined : JSON.parse(parameters),
      ];
    });
  const LONG = 'a?'.repeat(501);
  const long: typeof REJECTED = [
    [`SELECT extractAll('a', '${LONG}')`],
    [`SELECT COLUMNS('${LONG}') FROM campaigns`],
    [`SELECT c.columns('${LONG}') FROM campaigns AS c`],
    [`SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`],
    [''],
  ];

  for (const [statement, parameters] of [...REJECTED, ...long]) {
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
    expect(readdirSync(folder).sort()).to.deep.equal(['clickhouse', 'secret.csv']);
  });

  it('does not show the setting that holds the grant of a statement', async () => {
    const { text } = await ask(
      "SELECT count() FROM system.settings WHERE name = 'format_avro_schema_registry_url'",
    );
    expect(text.trim()).to.equal('0');
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
