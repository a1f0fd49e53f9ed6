import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SqlEndpoint } from '../../services/sql-endpoint/server.js';
import { startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import type { ClickHouse } from '../../services/stores/clickhouse/client.js';
import { migrate } from '../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';

const PASSWORD = 'analysts';

describe('the SQL endpoint for analysts', () => {
  let folder: string;
  let clickhouse: ClickHouse;
  let endpoint: SqlEndpoint;
  /** Counts what the engine would fetch. */
  let outside: Server;
  let fetched = 0;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reachline-analysts-'));
    writeFileSync(join(folder, 'secret.csv'), 'secret\n');
    clickhouse = await openClickHouse({ path: join(folder, 'clickhouse') });
    await migrate(clickhouse);
    await clickhouse.command(
      'test',
      "INSERT INTO deliveries (organization_id, date, campaign_id, creative_id, impressions, version) VALUES ('org', '2026-10-01', 'c', 'r', 1, 1), ('org', '2026-10-01', 'c', 'r', 7, 2)",
    );
    if (!clickhouse.engine) throw new Error('no engine');
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
    rmSync(folder, { recursive: true, force: true });
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
  const stored = () =>
    ask("SELECT count(), sum(impressions) FROM default.creative_deliveries FINAL WHERE campaign_id != ''");

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
    ['EXPLAIN SELECT 1'],
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
    ['SELECT * FROM system.tables'],
    ['SELECT data_paths FROM system.tables'],
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
    [`SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`],
    [''],
  ];

  it('rejects more than forty hostile statements', () => expect(HOSTILE.length).to.be.greaterThan(40));

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
    expect((await stored()).text).to.equal('1\t7\n');
    expect(
      (await ask("SELECT count() FROM system.tables WHERE database IN ('default', 'reachline')")).text,
    ).to.equal(
      `${(await clickhouse.query<{ count: number }>({ name: 'test', sql: "SELECT count() AS count FROM system.tables WHERE database IN ('default', 'reachline')", params: {} })).rows[0]?.count}\n`,
    );
    expect(fetched).to.equal(0);
    expect(existsSync(join(folder, 'written'))).to.equal(false);
    expect(readdirSync(folder).sort()).to.deep.equal(['clickhouse', 'secret.csv']);
  });

  it('rejects writes with code 164, and files, hosts and tables with 497', async () => {
    expect((await ask('DROP TABLE default.deliveries')).code).to.equal('164');
    expect((await ask("SELECT * FROM file('x')")).code).to.equal('497');
    expect((await ask('SELEKT 1')).code).to.equal('62');
    expect((await ask('SELEKT 1')).text).not.to.contain('formatQuery');
    expect((await ask('SELECT * FROM nothing')).code).to.equal('60');
  });
});
