/**
 * Replaces every string and every key of a valid request of every operation by texts with a meaning for some parser. The statements that
 * SQLite and ClickHouse get meanwhile are recorded below the drivers and read by a lexer of this test.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { STREAM_NAMES, STREAMS } from '../../ingest/streams/index.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { endpoints, operations } from '../../services/gateway/api.js';
import { readingTools, writingTools } from '../../services/mcp/tools.js';
import { packageRoot } from '../../services/shared/fs.js';
import { type Received, send } from '../gateway/send.js';
import { freePort } from '../stack/free-port.js';
import { callerOf } from '../support/gateway.js';
import { Random, runs, SEED } from '../support/random.js';
import { sampleFolder } from '../support/sample.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { type Json, type JsonSchema, type Place, places, plainValue, validBodies } from './places.js';
import type { RecordedStatement } from './record-statements.fixture.js';
import { readStatement } from './statement-text.js';

const HOSTILE = [
  "' OR 1=1 --",
  '" OR "a"="a',
  '` FROM x; --',
  '‘a’',
  '“a”',
  ';DROP TABLE contacts;',
  "'; DROP TABLE contacts; --",
  '=1',
  ", y = '2'",
  '--',
  '/* x */',
  '*/ 1 /*',
  '\nSELECT 1;\n',
  '\0',
  '\\',
  "\\'; SELECT 1; --",
  '}{',
  '{x:String}',
  '\ud800',
  'a'.repeat(65_536),
];
/** All hostile texts but the long one, joined, so that whatever ends a text in a place is included. */
const TOGETHER = HOSTILE.filter(({ length }) => length < 100).join(' ');
/** Number of further texts per place, which are drawn for each place. Nightly runs use all texts. */
const DRAWN = runs(1);
const AT_ONCE = 8;

/** Statements without text of a request: months whose sums are due, once a minute, and the end of a statement whose time is over. */
const BACKGROUND =
  /log_comment = 'due_rollups'|^\/\* \d+ \*\/ SELECT touched\.organization_id AS|^KILL QUERY WHERE startsWith\(query, '\/\* \d+ \*\/'\) ASYNC$/;

/** The statements that copy records for SQL. Each is matched as a whole, so that no text of a record can stand in it. */
const COPY = new RegExp(
  [
    "SET log_comment = 'copy_records'(?:, [a-z_0-9]+ = (?:\\d+|'[a-z_]+'))+",
    'INSERT INTO (?:contacts|audiences|website_visits)(?:_next)? (?:\\(\\w+(?:, \\w+)*\\) )?FORMAT \\w+',
    "/\\* \\d+ \\*/ SELECT name FROM system\\.tables WHERE database = 'default' AND position\\(name, '_next'\\) > 0",
    '/\\* \\d+ \\*/ CREATE TABLE default\\.\\w+_next AS \\w+',
    '/\\* \\d+ \\*/ EXCHANGE TABLES \\w+ AND default\\.\\w+_next',
    '/\\* \\d+ \\*/ DROP TABLE IF EXISTS default\\.\\w+_next SYNC SETTINGS max_table_size_to_drop = 0',
  ]
    .map((statement) => `^${statement}$`)
    .join('|'),
);

/** A word in every text of the other organization. */
const SECRET = 'zanzibar';
const TODAY = '2026-11-27';

interface Call {
  path: string;
  body?: unknown;
  /** Text of the body that replaces a JSON body. */
  raw?: string;
  query?: Json;
  headers?: Json;
  form?: Json;
}

/** An operation or another entry point: valid calls of it, and the places in these calls. */
interface Door {
  name: string;
  calls: { call: Call; places: Place[] }[];
  /** Whether clients write code in this place, so that a marker may appear in a statement as code. */
  takesSql?: (place: string) => boolean;
  port?: 'sql';
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll('%EF%BF%BD', '%ED%A0%80');
const queryOf = (query: Json = {}) =>
  Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(String(value))}`)
    .join('&');
/** Whether HTTP can carry the value in a header. */
const isHeader = ([name, value]: [string, unknown]) =>
  /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(String(value));

function formOf(form: Json): [type: string, text: string] {
  const parts = Object.entries(form).map(
    ([name, value]) =>
      `--limit\r\nContent-Disposition: form-data; name="${name.replaceAll(/["\r\n]/g, encode)}"\r\n\r\n${value}\r\n`,
  );
  return ['multipart/form-data; boundary=limit', `${parts.join('')}--limit--\r\n`];
}

describe('Strings of requests that mean something to a parser', function () {
  this.timeout(DRAWN > 1 ? 1_800_000 : 120_000);
  const folder = tempFolder();
  const recorded = join(folder, 'statements.ndjson');
  const canary = join(folder, 'canary.txt');
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let server: ServerProcess;
  let sqlUrl: string;
  let key: string;
  let otherKey: string;
  let dataDir: string;
  let statements: number;
  let read = 0;

  before(async () => {
    writeFileSync(canary, 'canary');
    writeFileSync(recorded, '');
    dataDir = await sampleFolder(Date.parse(`${TODAY}T12:00:00Z`));
    key = await prepareOrganization(dataDir, DEMO_ORGANIZATION, 1000);
    otherKey = await prepareOrganization(dataDir, 'org_other', 77);
    const sqlPort = await freePort();
    sqlUrl = `http://127.0.0.1:${sqlPort}`;
    const hook = pathToFileURL(join(packageRoot, 'dist/test/hostile-strings/record-statements.fixture.js'));
    server = await startServer({
      dataDir,
      key,
      environment: {
        NODE_OPTIONS: `--import=${hook}?file=${recorded}`,
        REACHLINE_SEARCH_PROCESSES: '2',
        REACHLINE_SQL_PORT: String(sqlPort),
      },
    });
    const other = callerOf(server.url, otherKey);
    for (const [stream, record] of Object.entries(recordsOfOther)) {
      const { body, text } = await other.ingest(stream, [record]);
      expect(body, text).to.include({ accepted: 1 });
    }
    statements = openSync(recorded, 'r');
  });
  after(async () => {
    agent.destroy();
    closeSync(statements);
    await server?.stop();
  });

  /** Statements that the stores got since the last check. */
  function given(): RecordedStatement[] {
    const chunks: Buffer[] = [];
    for (;;) {
      const chunk = Buffer.alloc(1 << 18);
      const length = readSync(statements, chunk, 0, chunk.length, read);
      if (length === 0) break;
      chunks.push(chunk.subarray(0, length));
      read += length;
    }
    const text = Buffer.concat(chunks).toString('utf8');
    const end = text.lastIndexOf('\n') + 1;
    read -= Buffer.byteLength(text.slice(end));
    return text
      .slice(0, end)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as RecordedStatement)
      .filter(([, text]) => !BACKGROUND.test(text) && !COPY.test(text));
  }

  function request({ path, body, raw, query, headers = {}, form }: Call, port?: 'sql'): Promise<Received> {
    const [type, text] = form
      ? formOf(form)
      : ['application/json', raw ?? (body === undefined ? '' : JSON.stringify(body))];
    const own = { 'Content-Type': type, ...(port ? {} : { 'X-Api-Key': key, Prefer: 'handling=lenient' }) };
    return send(port ? sqlUrl : server.url, agent, {
      method: 'POST',
      path: query ? `${path}?${queryOf(query)}` : path,
      headers: {
        ...own,
        ...(Object.fromEntries(Object.entries(headers).filter(isHeader)) as Record<string, string>),
      },
      body: Buffer.from(text),
    });
  }

  const random = new Random(SEED);
  /** Every second key, and argument of a tool that repeats that of an operation, gets one text; other strings get all texts joined. */
  function textsFor(place: Place, door: string): string[] {
    const drawn = random.shuffled(HOSTILE);
    if (DRAWN > 1) return [TOGETHER, ...drawn];
    if (place.isKey || door.startsWith('/mcp'))
      return random.chance(0.5) ? [random.pick([TOGETHER, ...drawn])] : [];
    return random.chance(0.5) ? [TOGETHER, ...drawn.slice(0, 1)] : [TOGETHER];
  }
  /** Tools report how fresh the data is. The counts are cached, so any call of a tool may be the call that reads them. */
  const withStatus = { most: 0, verbs: new Set<string>() };
  const seen = { requests: 0, answered: 0, clickhouse: 0, sqlite: 0 };

  async function attack({ name, calls, takesSql, port }: Door): Promise<string[]> {
    const faults: string[] = [];
    const valid =
      name.startsWith('/mcp') || name === '/api/status' ? withStatus : { most: 0, verbs: new Set<string>() };
    let isAnswered = false;
    given();
    for (const { call } of calls.slice(0, 3)) {
      const { status } = await request(call, port);
      if (status < 300) isAnswered = true;
      const clickhouse = given().filter(([store]) => store === 'clickhouse');
      valid.most = Math.max(valid.most, clickhouse.length);
      for (const each of clickhouse) valid.verbs.add(readStatement(each).verb);
    }
    if (!isAnswered) faults.push(`${name}: no valid request is answered`);
    const sent = new Map<string, { at: string; place: string }>();
    const send = async ({ place, hostile }: { place: Place; hostile: string }) => {
      const marker = `zq${++seen.requests}x`;
      const at = `${name} ${place.name} ${JSON.stringify(hostile.slice(0, 40))}`;
      sent.set(marker, { at, place: place.name });
      const { status, text } = await request(place.with(`${marker}${hostile} ${marker}`) as Call, port);
      if (status < 300) seen.answered++;
      // ClickHouse's response to a form with external tables.
      const isMissing = port === 'sql' && status === 501;
      if (status >= 500 && !isMissing) faults.push(`${at}: ${status} ${text.slice(0, 200)}`);
      if (text.toLowerCase().includes(SECRET)) faults.push(`${at}: another organization in the answer`);
    };
    const queue = calls
      .flatMap(({ places }) => places)
      .flatMap((place) => textsFor(place, name).map((hostile) => ({ place, hostile })));
    const requests = queue.length;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = queue.pop(); next; next = queue.pop()) await send(next);
      }),
    );
    const all = given();
    const clickhouse = all.filter(([store]) => store === 'clickhouse').length;
    seen.clickhouse += clickhouse;
    seen.sqlite += all.length - clickhouse;
    if (clickhouse > valid.most * requests)
      faults.push(
        `${name}: ${clickhouse} statements of ClickHouse for ${requests} requests, a valid one has ${valid.most}`,
      );
    for (const each of all) {
      const { count, verb, code } = readStatement(each);
      const text = each[1].slice(0, 300);
      if (count !== 1) faults.push(`${name}: ${count} statements in one text: ${text}`);
      const [marker = ''] = /zq\d+x/.exec(each[0] === 'sqlite' ? each[1] : code) ?? [];
      const origin = sent.get(marker);
      if (origin && !takesSql?.(origin.place))
        faults.push(`${origin.at}: stands as code in ${each[0]}: ${text}`);
      if (each[0] === 'clickhouse' && !valid.verbs.has(verb))
        faults.push(`${name}: another kind of statement: ${text}`);
    }
    return faults;
  }

  /** All data of an organization, as the organization sees it. */
  async function stateOfOther(): Promise<string> {
    const { call } = callerOf(server.url, otherKey);
    const lists = [
      'contacts/search',
      'audiences/search',
      'website-visits/search',
      'credits/get',
      'keys/list',
    ];
    const tables = ['contacts', 'audiences', 'website_visits', 'campaigns'];
    const answers: string[] = [];
    for (const [path, body] of [
      ...lists.map((path) => [path, { organization_id: 'org_other' }] as const),
      ...tables.map((table) => ['sql', { statement: `SELECT * FROM ${table}` }] as const),
    ]) {
      const { status, text } = await call(`/api/${path}`, body);
      expect(status, text).to.equal(200);
      answers.push(text);
    }
    return answers.join('\n').replaceAll(/"last_used_at":("[^"]*"|null)/g, '');
  }

  const doors = (): Door[] => {
    const ofOperations = endpoints.map((endpoint): Door => {
      const query = endpoint.query ? plainValue(endpoint.query as JsonSchema) : undefined;
      const bodies = validBodies(endpoint).map(({ body, field }) => {
        const call: Call = { path: endpoint.path, body };
        return { call, places: within(call, 'body').filter(({ name }) => name.startsWith(`/${field}`)) };
      });
      const queries = query
        ? [callOf({ path: endpoint.path, body: endpoint.example, query: query as Json }, 'query')]
        : [];
      const headers = callOf(
        {
          path: endpoint.path,
          body: endpoint.example,
          headers: { 'Idempotency-Key': 'plain', 'X-Request-Id': 'plain', Prefer: 'handling=lenient' },
        },
        'headers',
      );
      return {
        name: endpoint.path,
        calls: [...bodies, ...queries, headers],
        takesSql: (place) => endpoint.path === '/api/sql' && place === '/statement',
      };
    });
    const ofStreams = STREAM_NAMES.map((stream): Door => {
      const record = plainRecord(STREAMS[stream].schema as JsonSchema);
      const query = { ...(plainValue(ingest.query as JsonSchema) as Json), map: '' };
      const path = `/api/ingest/${stream}`;
      return {
        name: path,
        calls: [callOf({ path, body: [record] }, 'body'), callOf({ path, body: [record], query }, 'query')],
      };
    });
    return [...ofOperations, ...ofStreams, ...toolDoors(), ...sqlDoors(key)];
  };

  it(`stay data in every operation (TEST_SEED=${SEED})`, async () => {
    // Records come into SQL within seconds, one table after another.
    const statement =
      'SELECT (SELECT count() FROM contacts) * (SELECT count() FROM audiences) * (SELECT count() FROM website_visits)';
    const { call } = callerOf(server.url, otherKey);
    await until(
      async () => (await call('/api/sql', { statement })).text.includes('"rows":[[1]]'),
      'records are in SQL',
    );
    const before = await stateOfOther();
    const faults: string[] = [];
    for (const door of doors()) faults.push(...(await attack(door)));
    expect(faults.slice(0, 30), `${faults.length} faults`).to.deep.equal([]);
    expect(await stateOfOther()).to.equal(before);
    expect(readdirSync(folder).sort()).to.deep.equal(['canary.txt', 'statements.ndjson']);
    expect(readFileSync(canary, 'utf8')).to.equal('canary');
    // If all requests were refused, the test would check little.
    expect(seen.answered, JSON.stringify(seen)).to.be.above(seen.requests / 3);
    expect(Math.min(seen.sqlite, seen.clickhouse), JSON.stringify(seen)).to.be.above(500);
  });
});

const ingest = operations.find(({ path }) => path === '/api/ingest/{stream}') as (typeof operations)[number];

const plainRecord = (schema: JsonSchema): Json => ({
  ...(plainValue({ ...schema, type: 'object' }) as Json),
  organization_id: DEMO_ORGANIZATION,
});

/** Calls of each tool, and the strings around them in a message. */
function toolDoors(): Door[] {
  const headers = { Accept: 'application/json, text/event-stream' };
  return [...readingTools, ...writingTools].map(({ name, endpoint, inputSchema }): Door => {
    const { organization_id: _, ...own } = endpoint.example as Json;
    const others = Object.entries(inputSchema.properties).filter(([field]) => !(field in own));
    const message = (args: Json): Call => ({
      path: '/mcp',
      headers,
      body: { jsonrpc: '2.0', id: 'plain', method: 'tools/call', params: { name, arguments: args } },
    });
    const more = others.map(([field, schema]) => {
      const call = message({ ...own, [field]: plainValue(schema as JsonSchema) });
      const start = `/params/arguments/${field}`;
      return { call, places: within(call, 'body').filter((place) => place.name.startsWith(start)) };
    });
    return {
      name: `/mcp ${name}`,
      calls: [callOf(message(own), 'body'), ...more],
      takesSql: (place) => name === 'sql' && place === '/params/arguments/statement',
    };
  });
}

/** The SQL port: its URL, headers, bodies and forms. */
function sqlDoors(key: string): Door[] {
  const statement = 'SELECT {name:String} AS a, {day:Date} AS b, count() FROM campaigns';
  const params = { param_name: 'plain', param_day: '2026-11-03' };
  const credentials = { user: 'plain', password: key };
  const query = {
    query: statement,
    ...params,
    ...credentials,
    database: 'reachline',
    default_format: 'JSONCompact',
    query_id: 'plain',
    log_comment: 'plain',
    session_timezone: 'UTC',
    format_csv_delimiter: ',',
    max_threads: '1',
    limit: '10',
  };
  const headers = {
    'X-ClickHouse-User': 'plain',
    'X-ClickHouse-Key': key,
    'X-ClickHouse-Database': 'reachline',
    'X-ClickHouse-Format': 'JSON',
    'X-ClickHouse-Query-Id': 'plain',
  };
  const takesSql = (place: string) => /^\/(query|statement)$/.test(place);
  const texts = [
    (hostile: string) => `SELECT '${hostile}'`,
    (hostile: string) => `SELECT 1 AS \`${hostile}\``,
    (hostile: string) => `SELECT 1 ${hostile}`,
    (hostile: string) => `SELECT {${hostile}:String}`,
    (hostile: string) => `SELECT {name:${hostile}}`,
  ];
  return [
    { name: 'SQL port, URL', port: 'sql', takesSql, calls: [callOf({ path: '/', query, raw: '' }, 'query')] },
    {
      name: 'SQL port, headers',
      port: 'sql',
      calls: [callOf({ path: '/', headers, raw: 'SELECT 1' }, 'headers')],
    },
    {
      name: 'SQL port, form',
      port: 'sql',
      takesSql,
      calls: [callOf({ path: '/', query: credentials, form: { query: statement, ...params } }, 'form')],
    },
    {
      name: 'SQL port, statement',
      port: 'sql',
      takesSql: () => true,
      calls: texts.map((text, index) => ({
        call: { path: '/', headers, raw: 'SELECT 1' },
        places: [
          {
            name: `statement ${index}`,
            isKey: false,
            with: (hostile) => ({ path: '/', headers, raw: text(hostile) }),
          },
        ],
      })),
    },
  ];
}

type Part = 'body' | 'query' | 'headers' | 'form';

/** The places of one part of a call. */
function within(call: Call, part: Part): Place[] {
  return places(call[part]).map(({ name, isKey, with: replaced }) => ({
    name,
    isKey,
    with: (text) => ({ ...call, [part]: replaced(text) }),
  }));
}

const callOf = (call: Call, ...parts: Part[]) => ({
  call,
  places: parts.flatMap((part) => within(call, part)),
});

const recordsOfOther = {
  contacts: {
    contact_id: 'con_1',
    organization_id: 'org_other',
    first_name: SECRET,
    work_emails: [`${SECRET}@example.com`],
  },
  audiences: { id: 'aud_1', organization_id: 'org_other', name: SECRET },
  'website-visits': {
    id: 'vis_1',
    organizationId: 'org_other',
    createdAt: `${TODAY}T01:00:00Z`,
    city: SECRET,
  },
  'network-a-campaigns': { id: 'cam_1', organization_id: 'org_other', name: SECRET },
};
