/** Leaves the allowlist out on purpose: tests which statements of an analyst the engine itself refuses, with the analyst's rights. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { printedStatement } from '../../services/shared/sql.js';
import { VIEWS } from '../../services/sql-endpoint/read-only.js';
import { type SqlEndpoint, startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import { Runner } from '../../services/sql-endpoint/statement.js';
import type { Engine } from '../../services/stores/clickhouse/engine.js';
import { ANALYST_SETTINGS } from '../../services/stores/clickhouse/settings.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { rawSql } from '../support/raw-sql.js';
import { tempFolder } from '../support/temp-folder.js';

describe('An analyst’s statement that got past the allowlist', () => {
  const folder = tempFolder();
  const file = join(folder, 'secret.txt');
  let stores: Stores;
  let engine: Engine;
  let endpoint: SqlEndpoint;
  let runner: Runner;
  let address: string;
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    response.end('secret\n');
  });

  before(async () => {
    writeFileSync(file, 'secret\n');
    stores = await openStores({ dataDir: join(folder, 'data'), searchProcesses: 1 });
    engine = (await stores.engine?.()) as Engine;
    endpoint = await startSqlEndpoint({ engine, records: stores.records, port: 0 });
    runner = new Runner(engine);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await asOwner("INSERT INTO default.campaigns (organization_id, id) VALUES ('org_theirs', 'theirs')");
  });
  after(async () => {
    server.close();
    await endpoint.close();
    await stores.close();
  });

  const asOwner = async (text: string) => {
    const surroundings = { role: 'owner' as const, database: '', settings: {}, params: {} };
    const result = await runner.run({ ...surroundings, sql: rawSql(text), format: 'TabSeparated' });
    return Buffer.from(result.bytes()).toString();
  };
  /** Runs below every check, with only the rights and settings of an analyst's connection. */
  const asAnalyst = async (text: string) => {
    const session = engine.session();
    try {
      await session.run(rawSql('SET ROLE analyst'), 'Null');
      await session.run(rawSql(`USE ${VIEWS}`), 'Null');
      const settings = Object.entries(ANALYST_SETTINGS).map(([name, value]) => `${name} = '${value}'`);
      const filters = `'{\\'default.campaigns\\':\\'organization_id = \\\\\\'org_ours\\\\\\'\\',\\'system.processes\\':\\'0\\'}'`;
      const all = [`additional_table_filters = ${filters}`, `log_comment = 'x'`, ...settings];
      await session.run(rawSql(`SET ${all.join(', ')}`), 'Null');
      return Buffer.from((await session.run(rawSql(text), 'TabSeparated')).bytes()).toString();
    } finally {
      session.close();
    }
  };
  const codeOf = async (text: string) => {
    try {
      return `rows: ${await asAnalyst(text)}`;
    } catch (error) {
      return (error as { clickhouseCode?: number }).clickhouseCode;
    }
  };

  const REFUSED = (): [statement: string, code: number][] => [
    [`SELECT * FROM file('${file}', 'LineAsString')`, 497],
    [`SELECT * FROM '${file}'`, 60],
    [`SELECT * FROM default.\`${file}\``, 497],
    [`DESCRIBE TABLE file('${file}', 'LineAsString')`, 497],
    [`EXPLAIN SELECT * FROM file('${file}', 'LineAsString')`, 497],
    [`SELECT * FROM view(SELECT * FROM file('${file}', 'LineAsString'))`, 497],
    [`SELECT * FROM url('${address}/', 'LineAsString')`, 497],
    [`SELECT * FROM url('${address}/records/x', 'LineAsString')`, 497],
    [`DESCRIBE TABLE url('${address}/x.csv')`, 497],
    [`SELECT * FROM s3('${address}/bucket/x.csv')`, 497],
    ["SELECT * FROM remote('127.0.0.1:1', system.one)", 497],
    ["SELECT * FROM remoteSecure('127.0.0.1:1', system.one)", 497],
    ["SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')", 497],
    ["SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')", 497],
    ["SELECT * FROM mongodb('127.0.0.1:1', 'a', 'b', 'c', 'd', 'a Int')", 497],
    ["SELECT * FROM redis('127.0.0.1:1', 'a', 'a Int')", 497],
    ["SELECT * FROM hdfs('hdfs://127.0.0.1:1/x', 'CSV', 'a Int')", 497],
    ["SELECT * FROM odbc('x', 'y')", 497],
    ["SELECT * FROM jdbc('x', 'y')", 497],
    [`SELECT * FROM sqlite('${join(folder, 'data/reachline.db')}', 'credits')`, 497],
    ["SELECT * FROM executable('ls', 'TSV', 'a String')", 497],
    ["SELECT * FROM dictionary('x')", 497],
    [`INSERT INTO FUNCTION file('${folder}/new.csv', 'CSV', 'a Int') VALUES (1)`, 497],
    [`INSERT INTO FUNCTION sqlite('${join(folder, 'data/reachline.db')}', 'credits') VALUES ('x', 1)`, 497],
    ["INSERT INTO default.campaigns (organization_id, id) VALUES ('x', 'y')", 497],
    ['CREATE TABLE x (a Int8) ENGINE = Memory', 497],
    ['CREATE TEMPORARY TABLE x (a Int8) ENGINE = Memory', 497],
    ['CREATE OR REPLACE VIEW loot AS SELECT 1', 497],
    ['CREATE DATABASE x', 497],
    ['CREATE FUNCTION f AS x -> x', 497],
    ['CREATE USER x', 497],
    ['ALTER TABLE default.campaigns UPDATE name = 1 WHERE 1', 497],
    ['ALTER TABLE campaigns MODIFY SQL SECURITY INVOKER', 497],
    ['TRUNCATE TABLE default.campaigns', 497],
    ['DROP TABLE default.campaigns', 497],
    ['DROP VIEW campaigns', 497],
    ['RENAME TABLE default.campaigns TO default.other', 497],
    ['OPTIMIZE TABLE default.campaigns', 497],
    ['CHECK TABLE default.campaigns', 497],
    ['SYSTEM SHUTDOWN', 497],
    ['SYSTEM KILL', 497],
    ['SYSTEM FLUSH LOGS', 497],
    [`BACKUP DATABASE default TO File('${folder}/backup')`, 497],
    ['GRANT owner TO analyst', 497],
    ['SELECT * FROM default.campaigns', 497],
    ["SELECT * FROM mergeTreeIndex('default', 'campaigns')", 497],
    ["SELECT * FROM merge('default', '.*')", 636],
    ['SET readonly = 0', 164],
    ['SET max_execution_time = 1', 164],
    ['SELECT 1 SETTINGS readonly = 0', 164],
    ['SELECT * FROM campaigns SETTINGS additional_table_filters = {}', 164],
    ["SELECT * FROM contacts SETTINGS format_avro_schema_registry_url = 'http://127.0.0.1:1/records/'", 164],
  ];

  it('is refused by the engine when it reads files, addresses and tables, writes, defines or sets anything', async () => {
    const before = await asOwner('SELECT database, name, total_rows FROM system.tables ORDER BY ALL');
    const files = readdirSync(folder);
    for (const [statement, code] of REFUSED()) expect(await codeOf(statement), statement).to.equal(code);
    expect(await asOwner('SELECT database, name, total_rows FROM system.tables ORDER BY ALL')).to.equal(
      before,
    );
    expect(readdirSync(folder)).to.deep.equal(files);
    expect(asked).to.equal(0);
  });

  it('sees the views alone, each of its organization, and kills nothing', async () => {
    expect(await asAnalyst('SHOW DATABASES')).to.equal('reachline\n');
    expect(await asAnalyst('SHOW TABLES FROM default')).to.equal('');
    expect(await asAnalyst('SELECT campaign_id FROM campaigns')).to.equal('');
    expect(await asAnalyst("SELECT campaign_id FROM merge('reachline', '^campaigns$')")).to.equal('');
    expect(await asAnalyst('KILL QUERY WHERE 1')).to.equal('');
    expect(await asAnalyst('SELECT * FROM system.processes')).to.equal('');
  });

  it('is refused above the engine where no grant stops it: several statements, files that are written, the function file', async () => {
    const target = join(folder, 'out.txt');
    for (const text of [
      'SELECT 1; SELECT 2',
      'SELECT 1;',
      'SELECT 1 -- x',
      'SELECT 1 /* x */',
      'SELECT "a"',
      "SELECT 'a",
      'SELECT `a',
      'SELECT $x$a$x$',
      `SELECT 1 INTO OUTFILE '${target}'`,
      `SELECT 1 INTO\tOUTFILE '${target}' TRUNCATE`,
    ])
      expect(() => printedStatement(text), text).to.throw(RangeError);
    for (const text of ['UTC;', '--', "'", '', 'a b', "UTC') + file('x"])
      expect(() => printedStatement(`SELECT {t:DateTime('${text}')}`), text).to.throw(RangeError);
    for (const text of [
      "SELECT {t:DateTime('UTC')}",
      "SELECT ';' AS `;`",
      "SELECT 'it\\'s -- /* \" INTO OUTFILE'",
      'SELECT ``',
    ])
      expect(printedStatement(text).text).to.equal(text);
    const surroundings = { role: 'analyst' as const, database: VIEWS, settings: {}, params: {} };
    for (const text of [
      `SELECT file('${file}')`,
      `SELECT \`file\`('${file}')`,
      `SELECT * APPLY(file) FROM (SELECT '${file}')`,
      `SELECT arrayMap(x -> file(x), ['${file}'])`,
      `SELECT y FROM values('x String, y String ALIAS file(\\'${file}\\')', 'a')`,
      `SELECT y FROM \`values\`({s:String}, 'a')`,
      'SET ROLE owner',
      'KILL QUERY WHERE 1',
      'USE default',
    ]) {
      const running = runner.run({ ...surroundings, sql: rawSql(text), format: 'TabSeparated' });
      const error = await running.then(
        (result) => Buffer.from(result.bytes()).toString(),
        (thrown: { code?: number }) => thrown.code,
      );
      expect(error, text).to.equal(497);
    }
    expect(existsSync(target)).to.equal(false);
    expect(readFileSync(file, 'utf8')).to.equal('secret\n');
  });
});
