import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { CONCURRENCY, startClickHouseServer } from '../support/clickhouse-server.js';
import { useOpened } from '../support/opened.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const PASSWORD = 'open sesame';

describe('the ClickHouse HTTP protocol', () => {
  const server = useOpened(() => startClickHouseServer(tempFolder(), { password: PASSWORD }));

  const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': PASSWORD };
  const get = (parameters: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${server.url}/?${new URLSearchParams(parameters)}`, { headers, ...init });
  const post = (parameters: Record<string, string>, body: string) =>
    get(parameters, { method: 'POST', body });

  it('answers pings without a password', async () => {
    for (const path of ['/ping', '/', '/replicas_status']) {
      const answer = await fetch(server.url + path);
      expect([answer.status, await answer.text()]).to.deep.equal([200, 'Ok.\n']);
    }
    expect((await fetch(`${server.url}/nowhere`)).status).to.equal(404);
    expect((await fetch(server.url, { method: 'DELETE' })).status).to.equal(405);
  });

  it('answers targets that are no path of its own, also without a host', async () => {
    const statusOf = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { hostname, port } = new URL(server.url);
        const asked = request({ hostname, port, path }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.once('error', reject).end();
      });
    for (const path of ['//', '//?query=SELECT+1', '///x', '/%', '/\\']) {
      expect(await statusOf(path), path).to.equal(404);
    }
    for (const target of ['http://', 'http://[', 'ftp:']) {
      expect(await statusOf(target), target).to.be.within(400, 404);
    }
  });

  it('takes at most 100 settings and parameters, whose names are identifiers of at most 64 characters', async () => {
    const codeOf = async (parameters: Record<string, string>) =>
      (await get({ query: 'SELECT 1', ...parameters })).headers.get('x-clickhouse-exception-code');
    const many = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`${prefix}${index}`, '1']));
    expect(await codeOf(many('param_p'))).to.equal('36');
    expect(await codeOf(many('setting_'))).to.equal('36');
    const bad = ['x = 1; SELECT 2; SET param_y', 'x y', "x'", 'x`', 'x\n', '\0', '', 'x'.repeat(65)];
    for (const name of bad) {
      expect(await codeOf({ [`param_${name}`]: '1' }), name).to.equal('115');
      const form = new FormData();
      form.set(`param_${name.replace('\n', ';')}`, '1');
      const posted = await get({ query: 'SELECT 1' }, { method: 'POST', body: form });
      expect(posted.headers.get('x-clickhouse-exception-code'), name).to.equal('115');
    }
    const form = new FormData();
    for (const name of Object.keys(many('param_p'))) form.set(name, '1');
    const posted = await get({ query: 'SELECT 1' }, { method: 'POST', body: form });
    expect(posted.headers.get('x-clickhouse-exception-code')).to.equal('36');
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

  describe('with clients that do not read', () => {
    const sockets: Socket[] = [];
    const connected = () => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      sockets.push(socket);
      return socket;
    };
    after(() => {
      for (const socket of sockets) socket.destroy();
    });
    const large = 'SELECT randomPrintableASCII(1000000) FROM numbers(60) FORMAT RawBLOB';
    /** Sends a request, and reads only the beginning of the response. */
    const askUnread = async () => {
      const socket = connected();
      const query = new URLSearchParams({ query: large, user: 'default', password: PASSWORD });
      socket.write(`GET /?${query} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const [begin] = (await once(socket, 'data')) as [Buffer];
      socket.pause();
      return begin.toString('latin1');
    };

    it('keeps a bounded number of bytes for them, and refuses large answers above it', async () => {
      const answers: string[] = [];
      for (let index = 0; index < 5; index++) answers.push(await askUnread());
      expect(answers.map((answer) => /Code: \d+/.exec(answer)?.[0] ?? answer.slice(9, 12))).to.deep.equal([
        '200',
        '200',
        '200',
        'Code: 202',
        'Code: 202',
      ]);
      expect(await (await get({ query: 'SELECT 1' })).text()).to.equal('1\n');
      for (const socket of sockets) socket.destroy();
      await until(async () => {
        const answer = await get({ query: large });
        return answer.status === 200 && (await answer.arrayBuffer()).byteLength === 60_000_000;
      }, 'there is room once they have left');
    });

    it('takes at most 256 connections', async () => {
      let closed = 0;
      for (let index = 0; index < 300; index++) connected().once('close', () => closed++);
      await until(async () => closed >= 40, 'more are closed');
    });
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

  it('reads compressed bodies, and compresses answers as the client accepts them where it asks for that', async () => {
    const zipped = { method: 'POST', headers: { ...headers, 'Content-Encoding': 'gzip' } };
    expect(await (await get({}, { ...zipped, body: gzipSync('SELECT 1') })).text()).to.equal('1\n');
    expect((await get({}, { ...zipped, body: 'no gzip' })).status).to.equal(400);
    const query = { query: "SELECT 1, 'a'" };
    const accepting = { headers: { ...headers, 'Accept-Encoding': 'lz4, gzip' } };
    const compressed = await get({ ...query, enable_http_compression: '1' }, accepting);
    expect(compressed.headers.get('content-encoding')).to.equal('gzip');
    expect(await compressed.text()).to.equal('1\ta\n');
    expect((await get(query, accepting)).headers.get('content-encoding')).to.equal(null);
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
