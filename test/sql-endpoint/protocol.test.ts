import { request as httpRequest } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { expect } from 'chai';
import { type ClickHouseServer, CONCURRENCY, startClickHouseServer } from '../support/clickhouse-server.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const PASSWORD = 'open sesame';

describe('the ClickHouse HTTP protocol', () => {
  let folder: string;
  let server: ClickHouseServer;
  let client: ClickHouseClient;

  before(async () => {
    folder = tempFolder();
    server = await startClickHouseServer(folder, { password: PASSWORD });
    client = createClient({ url: server.url, password: PASSWORD });
    await client.command({
      query: 'CREATE TABLE pairs (number UInt64, word Nullable(String)) ENGINE = MergeTree ORDER BY number',
    });
  });
  after(async () => {
    await client.close();
    await server.close();
  });
  beforeEach(() => client.command({ query: 'TRUNCATE TABLE pairs' }));

  const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': PASSWORD };
  const get = (parameters: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${server.url}/?${new URLSearchParams(parameters)}`, { headers, ...init });
  const post = (parameters: Record<string, string>, body: string | Uint8Array, more = {}) =>
    get(parameters, { method: 'POST', body, headers: { ...headers, ...more } });
  const pairs = async () => (await get({ query: 'SELECT * FROM pairs ORDER BY number' })).text();

  it('answers pings without a password', async () => {
    for (const path of ['/ping', '/', '/replicas_status']) {
      const answer = await fetch(server.url + path);
      expect([answer.status, await answer.text()]).to.deep.equal([200, 'Ok.\n']);
    }
    expect((await fetch(`${server.url}/nowhere`)).status).to.equal(404);
    expect((await fetch(server.url, { method: 'DELETE' })).status).to.equal(405);
  });

  it('takes the password from basic authentication, headers and the URL', async () => {
    const query = new URLSearchParams({ query: 'SELECT 1' });
    const asked = [
      fetch(`${server.url}/?${query}`, {
        headers: { Authorization: `Basic ${btoa(`default:${PASSWORD}`)}` },
      }),
      fetch(`${server.url}/?${query}`, { headers }),
      fetch(`${server.url}/?${query}&${new URLSearchParams({ user: 'default', password: PASSWORD })}`),
    ];
    for (const answer of await Promise.all(asked)) expect(await answer.text()).to.equal('1\n');
  });

  it('rejects wrong passwords, other users and missing ones with the codes of the protocol', async () => {
    const tries: [Record<string, string>, number, string][] = [
      [{}, 401, '194'],
      [{ 'X-ClickHouse-Key': 'wrong' }, 403, '516'],
      [{ 'X-ClickHouse-User': 'root', 'X-ClickHouse-Key': PASSWORD }, 403, '516'],
      [{ Authorization: 'Bearer x' }, 403, '516'],
    ];
    for (const [given, status, code] of tries) {
      const answer = await fetch(`${server.url}/?query=SELECT+1`, { headers: given });
      expect([answer.status, answer.headers.get('x-clickhouse-exception-code')]).to.deep.equal([
        status,
        code,
      ]);
      expect(await answer.text()).to.match(/^Code: \d+\. DB::Exception: /);
    }
  });

  it('reads a statement from the URL, the body, and both', async () => {
    expect(await (await get({ query: 'SELECT 1' })).text()).to.equal('1\n');
    expect(await (await post({}, 'SELECT 2')).text()).to.equal('2\n');
    expect(await (await post({ query: 'SELECT 3' }, '+ 4')).text()).to.equal('7\n');
  });

  it('answers in the format that the statement, or else the request, names', async () => {
    const formats: [Record<string, string>, string, string, string][] = [
      [{ query: 'SELECT 1 AS a' }, 'TabSeparated', 'text/tab-separated-values; charset=UTF-8', '1\n'],
      [
        { query: 'SELECT 1 AS a', default_format: 'JSONEachRow' },
        'JSONEachRow',
        'application/x-ndjson; charset=UTF-8',
        '{"a":1}\n',
      ],
      [
        { query: 'SELECT 1 AS a FORMAT CSVWithNames', default_format: 'JSON' },
        'CSVWithNames',
        'text/csv; charset=UTF-8',
        '"a"\n1\n',
      ],
    ];
    for (const [parameters, format, type, text] of formats) {
      const answer = await get(parameters);
      expect(answer.headers.get('x-clickhouse-format')).to.equal(format);
      expect(answer.headers.get('content-type')).to.equal(type);
      expect(await answer.text()).to.equal(text);
    }
  });

  it('binds parameters and applies settings, which end with the request', async () => {
    const query = "SELECT {text:String}, {list:Array(String)}, getSetting('max_threads')";
    const answer = await get({
      query,
      param_text: "it's\\t\\\\",
      param_list: "['a\\'b','c']",
      max_threads: '7',
    });
    expect(await answer.text()).to.equal("it\\'s\\t\\\\\t['a\\'b','c']\t7\n");
    expect(await (await get({ query: "SELECT getSetting('max_threads')" })).text()).not.to.equal('7\n');
    expect(
      (await get({ query: 'SELECT {text:String}' })).headers.get('x-clickhouse-exception-code'),
    ).to.equal('456');
  });

  it('rejects a query_id that no header can hold', async () => {
    const { status, headers } = await get({ query: 'SELECT 1', query_id: 'a\r\nb' });
    expect([status, headers.get('x-clickhouse-exception-code')]).to.deep.equal([400, '36']);
  });

  it('summarizes a statement in a header', async () => {
    const answer = await get({
      query: 'SELECT number FROM numbers(10)',
      query_id: 'mine',
      send_progress_in_http_headers: '1',
    });
    expect(answer.headers.get('x-clickhouse-query-id')).to.equal('mine');
    const summary = JSON.parse(answer.headers.get('x-clickhouse-summary') ?? '');
    expect(summary).to.include({ result_rows: '10', written_rows: '0' });
    expect(Number(summary.elapsed_ns)).to.be.greaterThan(0);
    expect(JSON.parse(answer.headers.get('x-clickhouse-progress') ?? '')).to.include({ result_rows: '10' });
  });

  it('shows times in UTC, or in the requested zone', async () => {
    const query = 'SELECT toDateTime(0), timezone()';
    const utc = await get({ query });
    expect(utc.headers.get('x-clickhouse-timezone')).to.equal('UTC');
    expect(await utc.text()).to.equal('1970-01-01 00:00:00\tUTC\n');
    const tokyo = await get({ query, session_timezone: 'Asia/Tokyo' });
    expect(tokyo.headers.get('x-clickhouse-timezone')).to.equal('Asia/Tokyo');
    expect(await tokyo.text()).to.equal('1970-01-01 09:00:00\tAsia/Tokyo\n');
  });

  it('inserts rows in any format, apart from the statement or after it', async () => {
    await post({ query: 'INSERT INTO pairs FORMAT TabSeparated' }, '1\ta;b\\nc\n2\t\\N\n');
    await post({}, 'INSERT INTO pairs (number, word) FORMAT JSONEachRow\n{"number":3,"word":"é"}\n');
    await post({}, "INSERT INTO pairs VALUES (4, ';'), (5, 'e')");
    await post({ query: 'INSERT INTO pairs VALUES' }, "(6, 'f')");
    await post({ query: 'INSERT INTO pairs FORMAT TabSeparated' }, '');
    const native = await (
      await get({ query: "SELECT toUInt64(7) AS number, toNullable('g') AS word FORMAT Native" })
    ).arrayBuffer();
    await post(
      {},
      Buffer.concat([
        Buffer.from('INSERT INTO pairs (number, word) FORMAT Native\n'),
        new Uint8Array(native),
      ]),
    );
    expect(await pairs()).to.equal('1\ta;b\\nc\n2\t\\N\n3\té\n4\t;\n5\te\n6\tf\n7\tg\n');
  });

  it('reads and writes compressed bodies', async () => {
    await post({ query: 'INSERT INTO pairs FORMAT CSV' }, gzipSync('1,a\n'), { 'Content-Encoding': 'gzip' });
    expect(await pairs()).to.equal('1\ta\n');
    const raw = await new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
      const path = `/?${new URLSearchParams({ query: 'SELECT * FROM pairs', enable_http_compression: '1' })}`;
      httpRequest(
        server.url + path,
        { headers: { ...headers, 'Accept-Encoding': 'lz4, gzip' } },
        async (answer) => {
          const chunks: Buffer[] = [];
          for await (const chunk of answer) chunks.push(chunk);
          resolve({ encoding: answer.headers['content-encoding'], bytes: Buffer.concat(chunks) });
        },
      )
        .on('error', reject)
        .end();
    });
    expect(raw.encoding).to.equal('gzip');
    expect(gunzipSync(raw.bytes).toString()).to.equal('1\ta\n');
    const broken = await post({ query: 'INSERT INTO pairs FORMAT CSV' }, 'no gzip', {
      'Content-Encoding': 'gzip',
    });
    expect(broken.status).to.equal(400);
  });

  it('throws exceptions with their code and status', async () => {
    const failures: [Record<string, string>, number, string, string][] = [
      [{ query: 'SELEKT 1' }, 400, '62', 'SYNTAX_ERROR'],
      [{ query: 'SELECT 1; SELECT 2' }, 400, '62', 'Multi-statements are not allowed'],
      [{ query: 'SELECT * FROM nothing' }, 404, '60', 'UNKNOWN_TABLE'],
      [{ query: 'SELECT 1', database: 'nowhere' }, 404, '81', 'UNKNOWN_DATABASE'],
      [{ query: 'SELECT 1', no_such_setting: '1' }, 404, '115', 'UNKNOWN_SETTING'],
      [{ query: "SELECT throwIf(1, 'own words')" }, 500, '395', 'own words'],
      [{ query: 'SELECT sleep(3)', max_execution_time: '0.1' }, 408, '159', 'TIMEOUT_EXCEEDED'],
      [{ query: 'SELECT 1', decompress: '1' }, 501, '48', 'NOT_IMPLEMENTED'],
    ];
    for (const [parameters, status, code, words] of failures) {
      const answer = await get(parameters);
      const text = await answer.text();
      expect([answer.status, answer.headers.get('x-clickhouse-exception-code')], text).to.deep.equal([
        status,
        code,
      ]);
      expect(text).to.match(new RegExp(`^Code: ${code}\\. DB::Exception: .*${words}`, 's'));
    }
  });

  it('keeps databases apart', async () => {
    for (const database of ['one', 'two']) {
      await get({ query: `CREATE DATABASE ${database}` }, { method: 'POST' });
      await post({ database }, 'CREATE TABLE names (name String) ENGINE = MergeTree ORDER BY name');
      await post({ database, query: 'INSERT INTO names FORMAT CSV' }, `${database}\n`);
    }
    expect(await (await get({ database: 'one', query: 'SELECT * FROM names' })).text()).to.equal('one\n');
    expect((await get({ query: 'SELECT * FROM names' })).status).to.equal(404);
  });

  it('ends a query whose client has left', async () => {
    const before = server.started();
    const abort = new AbortController();
    const slow = 'SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1';
    const left = Promise.all(
      Array.from({ length: 6 }, () =>
        get({ query: slow }, { signal: abort.signal }).catch((error: Error) => error.name),
      ),
    );
    await until(() => server.started() === before + CONCURRENCY, 'statements run on every permit');
    abort.abort();
    expect(await left).to.deep.equal(Array(6).fill('AbortError'));
    await until(() => server.running() === 0, 'no statement runs');
  });

  it('keeps statements apart that run at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        (await get({ query: 'SELECT {x:String}', param_x: `value ${index}` })).text(),
      ),
    );
    expect(answers).to.deep.equal(Array.from({ length: 50 }, (_, index) => `value ${index}\n`));
  });
});
