import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
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

  const secret = () => join(folder, 'secret.csv');
  const address = () => `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`;
  const HOSTILE: [query: string | (() => string), parameters?: Record<string, string>][] = [
    // Writes and definitions.
    ["INSERT INTO default.deliveries (organization_id, impressions) VALUES ('x', 1)"],
    ['INSERT INTO default.deliveries SELECT * FROM default.creative_deliveries'],
    ["INSERT INTO FUNCTION file('x.csv') SELECT 1"],
    ['INSERT INTO default.deliveries FORMAT TabSeparated\nx'],
    ['CREATE TABLE default.x (a UInt8) ENGINE = Memory'],
    ['CREATE TEMPORARY TABLE x (a UInt8)'],
    ['CREATE DATABASE x'],
    ['CREATE VIEW reachline.x AS SELECT 1'],
    ["CREATE FUNCTION f AS x -> file('x')"],
    [
      "CREATE DICTIONARY default.d (a UInt64) PRIMARY KEY a SOURCE(FILE(PATH '/etc/passwd' FORMAT 'TSV')) LAYOUT(FLAT()) LIFETIME(0)",
    ],
    ["CREATE NAMED COLLECTION c AS a = '1'"],
    ["CREATE USER x IDENTIFIED BY 'x'"],
    ['GRANT ALL ON *.* TO default'],
    ['ALTER TABLE default.deliveries DELETE WHERE 1'],
    ['DELETE FROM default.deliveries WHERE 1'],
    ['UPDATE default.deliveries SET impressions = 0 WHERE 1'],
    ['TRUNCATE TABLE default.deliveries'],
    ['DROP TABLE default.deliveries'],
    ['DROP DATABASE reachline SYNC'],
    ['RENAME TABLE default.deliveries TO default.x'],
    ['EXCHANGE TABLES default.deliveries AND default.campaigns'],
    ['OPTIMIZE TABLE default.deliveries FINAL'],
    ['DETACH TABLE default.deliveries'],
    ["ATTACH TABLE x FROM '/etc' (a UInt8) ENGINE = MergeTree ORDER BY a"],
    ["BACKUP DATABASE default TO File('/tmp/x')"],
    ["RESTORE DATABASE default FROM File('/tmp/x')"],
    // The engine.
    ['SET max_memory_usage = 0'],
    ['SET readonly = 0'],
    ['SYSTEM SHUTDOWN'],
    ['SYSTEM DROP MARK CACHE'],
    ['SYSTEM STOP MERGES'],
    ['KILL QUERY WHERE 1'],
    ['USE system'],
    ['CHECK TABLE default.deliveries'],
    ['BEGIN TRANSACTION'],
    ['EXECUTE AS default SELECT 1'],
    ['SHOW PROCESSLIST'],
    ['SHOW GRANTS'],
    ['SHOW USERS'],
    // Files, hosts and programs.
    [() => `SELECT * FROM file('${secret()}', 'CSV', 'a String')`],
    [() => `SELECT * FROM FiLe('${secret()}', LineAsString)`],
    [() => `SELECT * FROM \`file\`('${secret()}', LineAsString)`],
    [() => `SELECT * FROM "file"('${secret()}', LineAsString)`],
    [() => `SELECT * /**/ FROM /* x */ file /**/ ('${secret()}', LineAsString)`],
    [() => `SELECT file('${secret()}')`],
    [() => `SELECT (SELECT file('${secret()}'))`],
    [() => `SELECT 1 WHERE 'x' IN (SELECT a FROM file('${secret()}', 'CSV', 'a String'))`],
    [() => `WITH f AS (SELECT * FROM file('${secret()}', LineAsString)) SELECT * FROM f`],
    [() => `WITH file('${secret()}') AS f SELECT f`],
    [() => `SELECT * FROM numbers(1) AS n JOIN (SELECT * FROM file('${secret()}', LineAsString)) AS f ON 1`],
    [() => `SELECT 1 UNION ALL SELECT 1 FROM file('${secret()}', LineAsString)`],
    [() => `SELECT arrayMap(x -> file('${secret()}'), [1])`],
    [() => `SELECT number FROM numbers(3) ORDER BY number WITH FILL FROM length(file('${secret()}'))`],
    [() => `SELECT number FROM numbers(3) LIMIT length(file('${secret()}'))`],
    [() => `SELECT * APPLY(file) FROM (SELECT '${secret()}')`],
    [() => `SELECT * REPLACE (file('${secret()}') AS number) FROM numbers(1)`],
    [() => `SELECT 1 QUALIFY file('${secret()}') != ''`],
    [() => `SELECT count() OVER w FROM numbers(1) WINDOW w AS (ORDER BY file('${secret()}'))`],
    [
      () =>
        `SELECT number FROM numbers(3) ORDER BY number WITH FILL INTERPOLATE (number AS file('${secret()}'))`,
    ],
    [() => `SELECT quantile(length(file('${secret()}')) / 100)(number) FROM numbers(3)`],
    [() => `SELECT number FROM numbers(length(file('${secret()}')))`],
    [() => `SELECT * FROM values('a String', file('${secret()}'))`],
    [() => `SELECT 1 FROM numbers(1) ARRAY JOIN [file('${secret()}')] AS a`],
    [() => `SELECT 1 FROM numbers(1) AS n JOIN numbers(1) AS m ON n.number = length(file('${secret()}'))`],
    [() => `SELECT 1 FROM numbers(1) PREWHERE file('${secret()}') != ''`],
    [() => `SELECT count() FROM numbers(1) GROUP BY GROUPING SETS ((file('${secret()}')))`],
    [() => `SELECT number FROM numbers(1) LIMIT 1 BY file('${secret()}')`],
    [() => `SELECT sum(number) FILTER (WHERE file('${secret()}') != '') FROM numbers(1)`],
    [() => `SELECT sum(number) OVER (PARTITION BY file('${secret()}')) FROM numbers(1)`],
    [
      () =>
        `WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT length(file('${secret()}')) FROM r) SELECT * FROM r`,
    ],
    [() => `SELECT fileOrNull('${secret()}'), fileIf('${secret()}', 1)`],
    [() => `SELECT 1 AS \`x (alias y)\nFunction sum\`, file('${secret()}')`],
    [() => `FROM file('${secret()}', LineAsString) SELECT *`],
    [() => `SELECT * FROM url('${address()}', LineAsString)`],
    [() => `SELECT * FROM urlCluster('x', '${address()}', LineAsString)`],
    [() => `SELECT * FROM s3('${address()}', 'CSV', 'a String')`],
    ["SELECT * FROM executable('cat /etc/passwd', TabSeparated, 'a String')"],
    ["SELECT * FROM remote('127.0.0.1', system.one)"],
    ["SELECT * FROM mysql('127.0.0.1:3306', 'a', 'b', 'c', 'd')"],
    ["SELECT * FROM postgresql('127.0.0.1:5432', 'a', 'b', 'c', 'd')"],
    ["SELECT * FROM sqlite('/tmp/x.db', 't')"],
    ["SELECT * FROM mongodb('127.0.0.1', 'a', 'b', 'c', 'd', 'e String')"],
    ["SELECT * FROM python('x')"],
    ["SELECT * FROM input('a String')"],
    ["SELECT * FROM filesystem('/etc')"],
    ["SELECT * FROM merge('system', 'processes')"],
    ['SELECT * FROM cluster(default, system.one)'],
    ['SELECT * FROM loop(numbers(1))'],
    ['SELECT * FROM view(SELECT * FROM system.processes)'],
    ["SELECT * FROM eval('DROP TABLE default.deliveries')"],
    ["SELECT * FROM dictionary('x')"],
    ["SELECT * FROM iceberg('file:///etc')"],
    ["SELECT dictGet('x', 'a', 1)"],
    ["SELECT joinGet('default.deliveries', 'a', 1)"],
    ['SELECT addressToLine(1)'],
    ["SELECT getServerSetting('max_server_memory_usage'), hostName(), serverUUID()"],
    ["SELECT catboostEvaluate('/etc/passwd', 1)"],
    ["SELECT AIGenerate('x')"],
    ['SELECT sleep(3)'],
    [() => `SELECT 1 INTO OUTFILE '${join(folder, 'written')}'`],
    [() => `SELECT 1 INTO OUTFILE '${join(folder, 'written')}' TRUNCATE FORMAT CSV`],
    [() => `DESCRIBE TABLE file('${secret()}')`],
    [() => `DESCRIBE TABLE (SELECT * FROM file('${secret()}', LineAsString))`],
    [() => `SHOW TABLES WHERE name IN (SELECT * FROM file('${secret()}', LineAsString))`],
    // What others ask, and where things lie.
    ['SELECT * FROM system.processes'],
    ['SELECT query FROM `system`.`processes`'],
    ['SELECT * FROM SYSTEM.processes'],
    ['SELECT 1 WHERE 1 IN system.processes'],
    ['SELECT query FROM processes', { database: 'system' }],
    ['SELECT query FROM {t:Identifier}', { param_t: 'system.processes' }],
    ['SELECT query FROM {d:Identifier}.{t:Identifier}', { param_d: 'system', param_t: 'processes' }],
    ['SELECT * FROM system.server_settings'],
    ['SELECT * FROM system.named_collections'],
    ['SELECT * FROM system.disks'],
    ['SELECT * FROM system.parts'],
    ['SELECT t.metadata_path FROM system.tables AS t'],
    ["SELECT COLUMNS('path') FROM system.databases"],
    ['SELECT system.databases.data_path FROM system.databases'],
    ['DESCRIBE TABLE nowhere.processes'],
    // What takes seconds for two texts, and cannot be interrupted.
    ["SELECT levenshteinDistance('a', 'b')"],
    ["SELECT editDistanceUTF8('a', 'b'), DAMERAULEVENSHTEINDISTANCE('a', 'b')"],
    ["SELECT jaroWinklerSimilarity('a', 'b')"],
    ['SELECT arrayLevenshteinDistance([1], [2]), arraySimilarity([1], [2], [1], [1])'],
    ["SELECT arrayMap(x -> multiMatchAny(x, ['a']), ['b'])"],
    ["SELECT multiFuzzyMatchAnyIndex('a', 1, ['a'])"],
    ["SELECT multiSearchAllPositionsCaseInsensitiveUTF8('a', ['a'])"],
    ["SELECT 'a' LIKE repeat('%a', 20000)"],
    ["WITH repeat('a?', 9999) AS p SELECT match('a', p)"],
    ["SELECT replaceRegexpAll('a', materialize('a'), 'b')"],
    ["SELECT REGEXP_REPLACE('a', repeat('(a?)', 3000), 'b')"],
    [`SELECT extractAll('a', '${'a?'.repeat(501)}')`],
    [`SELECT COLUMNS('${'a?'.repeat(501)}') FROM campaigns`],
    [`SELECT c.columns('${'a?'.repeat(501)}') FROM campaigns AS c`],
    ["SELECT arrayMap(x -> splitByRegexp(x, 'a'), ['a'])"],
    // Several statements, and limits.
    ['SELECT 1; DROP TABLE default.deliveries'],
    ['SELECT 1;;SELECT 2'],
    ["SELECT '\\'; DROP TABLE default.deliveries; --' ; SELECT 1"],
    ['SELECT 1 SETTINGS max_execution_time = 0'],
    ['SELECT * FROM (SELECT 1 SETTINGS readonly = 0)'],
    ['SELECT 1 FORMAT JSON SETTINGS max_memory_usage = 0'],
    ['SELECT 1 settings\u00a0readonly=0'],
    ['ＳＥＬＥＣＴ 1'],
    ['SELECT 1', { readonly: '0' }],
    ['SELECT 1', { allow_ddl: '1' }],
    ['SELECT 1', { max_rows_to_read: '0' }],
    ['SELECT 1', { format_schema: '/etc/passwd' }],
    ['SELECT 1', { output_format_schema: '/tmp/x' }],
    ['SELECT 1', { 'max_threads = 1, readonly': '0' }],
    ['SELECT 1', { "param_x = '1', readonly": '0' }],
    ['SELECT 1 FORMAT Template'],
    ['SELECT 1', { default_format: 'Protobuf' }],
    ['SELECT number FROM numbers(2000000)'],
    ['SELECT groupArray(toString(number)) FROM numbers(100000000)'],
    [
      'SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1',
      { max_execution_time: '0.5' },
    ],
    // EXPLAIN and DESCRIBE run nothing that SELECT may not.
    [() => `EXPLAIN SELECT * FROM file('${secret()}', LineAsString)`],
    [() => `EXPLAIN SELECT (SELECT file('${secret()}'))`],
    [() => `EXPLAIN SYNTAX SELECT file('${secret()}')`],
    [() => `EXPLAIN AST SELECT * FROM url('${address()}', LineAsString)`],
    ['EXPLAIN SELECT * FROM system.processes'],
    ['EXPLAIN SELECT * FROM default.deliveries'],
    ['EXPLAIN ESTIMATE SELECT * FROM campaign_daily'],
    ['EXPLAIN indexes = 1 SELECT * FROM campaign_daily'],
    ['EXPLAIN projections = 1 SELECT * FROM campaign_daily'],
    ['EXPLAIN TABLE OVERRIDE mysql() PARTITION BY x'],
    ['EXPLAIN CURRENT TRANSACTION'],
    ['EXPLAIN AST DROP TABLE default.deliveries'],
    ["EXPLAIN PLAN INSERT INTO default.deliveries (organization_id) VALUES ('x')"],
    ['EXPLAIN SELECT 1 SETTINGS readonly = 0'],
    [() => `EXPLAIN SELECT 1 INTO OUTFILE '${join(folder, 'written')}'`],
    ['SELECT * FROM (EXPLAIN SELECT 1)'],
    ["SELECT * FROM viewExplain('EXPLAIN', '', (SELECT * FROM default.deliveries))"],
    [() => `DESCRIBE (SELECT * FROM (SELECT file('${secret()}')))`],
    [() => `DESCRIBE (SELECT 1 WHERE 1 IN (SELECT 1 FROM url('${address()}', LineAsString)))`],
    ['DESCRIBE (SELECT * FROM system.processes)'],
    ['DESCRIBE default.deliveries'],
    ['DESCRIBE TABLE system.processes'],
    ["DESCRIBE remote('127.0.0.1', system.one)"],
    ['DESCRIBE (SELECT 1 SETTINGS readonly = 0)'],
    // A clause of settings lowers limits only.
    ['SELECT 1 SETTINGS readonly = 0'],
    ['SELECT 1 SETTINGS max_memory_usage = 900000000'],
    ['SELECT 1 SETTINGS max_execution_time = 31'],
    ["SELECT 1 SETTINGS additional_table_filters = {'system.tables': '1'}"],
    ['SELECT 1 SETTINGS query_plan_merge_filters = 1'],
    ["SELECT 1 SETTINGS format_avro_schema_registry_url = 'http://127.0.0.1'"],
    ["SELECT 1 SETTINGS max_threads = 1, log_comment = 'a\\'b', readonly = 0"],
    ['(SELECT 1 SETTINGS allow_ddl = 1) UNION ALL SELECT 2 SETTINGS max_threads = 1'],
    ['SELECT 1 SETTINGS max_threads = 1 FORMAT Template'],
    ['SELECT 1', { additional_table_filters: '{}' }],
    ['SELECT 1', { result_overflow_mode: 'any' }],
    ['SELECT number FROM numbers(2000000)', { result_overflow_mode: 'break' }],
    ['SELECT 1', { decompress: '1' }],
    // Tables are out of sight, by any name.
    ['SELECT * FROM default.deliveries'],
    ['SELECT * FROM deliveries', { database: 'default' }],
    ['SELECT 1 IN default.creative_deliveries'],
    ['SELECT default.creative_deliveries.clicks FROM campaign_daily'],
    ['SELECT system.processes.query FROM system.tables'],
    ['SELECT * FROM {t:Identifier}', { param_t: 'default.deliveries' }],
    ['SHOW CREATE TABLE default.deliveries'],
    ['EXISTS TABLE default.deliveries'],
    ['SHOW CREATE TABLE system.processes'],
    ['SHOW TABLES WHERE 1'],
    ["SHOW COLUMNS FROM campaigns WHERE name = 'x'"],
    ['SHOW CLUSTERS'],
    ["SHOW ENGINES INTO OUTFILE 'x'"],
    ['SHOW SETTING readonly SETTINGS readonly = 0'],
    ['SELECT * FROM system.databases'],
    ['SELECT t.*, d.* FROM system.tables AS t JOIN system.databases AS d ON d.name = t.database'],
    ['SELECT d.data_path FROM system.tables AS t JOIN system.databases AS d ON d.name = t.database'],
    [`SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`],
    [''],
  ];

  HOSTILE.forEach(([query, parameters], index) => {
    const shown = `${typeof query === 'string' ? query : query.toString().slice(6)}`.slice(0, 90);
    it(`rejects ${index + 1}: ${shown} ${parameters ? JSON.stringify(parameters) : ''}`, async () => {
      const { status, code, text } = await ask(typeof query === 'string' ? query : query(), parameters);
      expect(status, text).to.be.greaterThanOrEqual(400);
      expect(Number(code)).to.be.greaterThan(0);
      expect(text).to.match(new RegExp(`^Code: ${code}\\. DB::Exception: `));
      expect(text).not.to.contain('secret\n');
    });
  });

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
