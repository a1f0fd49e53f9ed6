import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { mcp } from '../../services/cli/commands/mcp.js';
import { CommandError } from '../../services/cli/errors.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { endpoints } from '../../services/gateway/api.js';
import { startGateway } from '../../services/gateway/server.js';
import { SQL_VIEWS } from '../../services/mcp/sql-views.js';
import { loadConfig } from '../../services/shared/config.js';
import { packageRoot } from '../../services/shared/fs.js';
import { createLogger } from '../../services/shared/logger.js';
import { MissingPackageError } from '../../services/shared/optional-package.js';
import { utcDate } from '../../services/shared/time.js';
import { callerOf, startSampleGateway, useGateway } from '../support/gateway.js';
import { expectProblem } from '../support/problems.js';
import { until } from '../support/until.js';

type Json = Record<string, unknown>;

const TODAY = utcDate(Date.now());
const reading = endpoints.filter(({ scope }) => scope.every((each) => each.endsWith(':read')));
const nameOf = (path: string) => path.replace('/api/', '').replaceAll(/[/-]/g, '_');

async function connect(url: string, key: string, tools = 'all'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { 'X-Api-Key': key } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`/mcp?tools=${tools}`, url), { requestInit }),
  );
  return client;
}

/** Connects to the command of the settings in docs/reference/mcp.md, with the address and key of the test. */
async function connectByCommand(url: string, key: string): Promise<Client> {
  const page = readFileSync(join(packageRoot, 'docs/reference/mcp.md'), 'utf8');
  const [, settings = ''] = /```json\n([^`]+)```/.exec(page) ?? [];
  const { command, args, env } = JSON.parse(settings).mcpServers.reachline;
  expect(Object.keys(env)).to.deep.equal(['REACHLINE_API_KEY']);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: command.replace('/path/to/reachline', packageRoot),
      args: args.map((arg: string) => (arg.startsWith('http') ? url : arg)),
      env: { REACHLINE_API_KEY: key },
    }),
  );
  return client;
}

describe('The server of the Model Context Protocol', function () {
  this.timeout(60_000);
  /** Key of the organization of the sample data. */
  let key: string;
  let sample: Client;
  /** Client of an organization with twelve contacts, a delivery of today, and an audience. */
  let client: Client;
  let limited: Client;
  const gateway = useGateway(async (gateway) => {
    const contacts = Array.from({ length: 12 }, (_, index) => ({
      contact_id: `c${index}`,
      first_name: 'Maria',
      work_emails: [`maria${index}@example.com`],
    }));
    await gateway.ingest('contacts', contacts);
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'Customers' }]);
    const delivery = { campaign_id: 'cam', creative_id: 'cre', date: TODAY, impressions: 10, clicks: 1 };
    await gateway.ingest('network-a-deliveries', [delivery]);
    key = await gateway.keyFor(DEMO_ORGANIZATION);
    sample = await connect(gateway.url, key);
    client = await connect(gateway.url, gateway.key);
    limited = await connect(gateway.url, await gateway.keyFor('org_a', ['visits:read']));
  }, startSampleGateway);

  async function answerOf(name: string, args: Json = {}, using = client): Promise<Json & { result: Json }> {
    const answer = await using.callTool({ name, arguments: args });
    const [{ text }] = answer.content as unknown as [{ text: string }];
    expect(answer.isError ?? false, text).to.equal(false);
    expect(answer, 'an answer is sent once').not.to.have.property('structuredContent');
    expect(text).not.to.match(/[^\\]":null[,}]/);
    return JSON.parse(text);
  }

  it('lists every reading operation with its schema, and apart from them the tools that write', async () => {
    const { tools } = await client.listTools();
    const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
    expect(tools.filter((tool) => !writing.includes(tool)).map(({ name }) => name)).to.have.members([
      ...reading.map(({ path }) => nameOf(path)),
      'describe',
    ]);
    expect(writing.map(({ name, annotations }) => [name, annotations?.destructiveHint])).to.have.deep.members(
      [
        ['audiences_contacts_add_many', false],
        ['audiences_contacts_remove_many', true],
        ['audiences_create', false],
        ['audiences_update', true],
        ['contacts_create', false],
        ['contacts_update', true],
      ],
    );
    for (const { name, description, inputSchema, outputSchema } of tools) {
      expect(description, name).to.match(/[a-z]/);
      expect(inputSchema.properties ?? {}, name).not.to.have.property('organization_id');
      expect(JSON.stringify(inputSchema), name).not.to.match(/:null|\$id/);
      // Null clears a field in an update; elsewhere it would mean the same as leaving the field out.
      const takesNull = ['contacts_update', 'audiences_update'].includes(name);
      expect(JSON.stringify(inputSchema).includes('"null"'), name).to.equal(takesNull);
      expect(outputSchema, name).to.equal(undefined);
    }
    const search = tools.find(({ name }) => name === 'contacts_search');
    expect(search?.inputSchema.properties).to.have.nested.property('limit.default', 10);
  });

  it('answers the example of every reading operation without fields that are null', async () => {
    await sample.listTools();
    for (const { path, example } of reading) {
      const { organization_id: _, ...args } = example as Json;
      expect(await answerOf(nameOf(path), args, sample), path).to.include.keys('trust', 'result');
    }
  });

  it('cuts a page that is too long, and says how to read the rest', async () => {
    const range = {
      start_date: '2026-01-01',
      end_date: TODAY,
      granularity: 'daily',
      metrics: ['impressions'],
    };
    const name = 'advertising_network_a_campaigns';
    const read = async (args: Json) => {
      const { result, cut } = await answerOf(name, { ...range, page_size: 20, ...args }, sample);
      return { ids: (result.items as { id: string }[]).map(({ id }) => id), cut };
    };
    const first = await read({});
    expect(first.ids.length).to.be.within(1, 19);
    const next = /`page_size` (\d+) and `page` (\d+)/.exec(String(first.cut)) ?? [];
    const second = await read({ page_size: Number(next[1]), page: Number(next[2]) });
    expect(second.ids).to.have.lengthOf(first.ids.length).and.not.to.include.members(first.ids);

    const people = await answerOf('contacts_search', { query: 'marketing', limit: 100 }, sample);
    expect(people.cut).to.contain('`next_cursor`');
    const { contacts, next_cursor } = people.result as { contacts: Json[]; next_cursor: string };
    const more = await answerOf(
      'contacts_search',
      { query: 'marketing', limit: 1, cursor: next_cursor },
      sample,
    );
    expect(contacts).not.to.deep.include((more.result.contacts as Json[])[0]);
  });

  it('leads from a cut page to the page that begins with the next item, also where `limit` has pages', async () => {
    const organization = await gateway.keyFor('org_many_audiences');
    const audiences = Array.from({ length: 230 }, (_, index) => ({
      id: `aud_${index}`,
      name: `Audience ${String(index).padStart(3, '0')}`,
      description: 'x'.repeat(900),
    }));
    await gateway.ingest('audiences', audiences, { key: organization });
    const many = await connect(gateway.url, organization);
    const read = async (args: Json) => {
      const { result, cut } = await answerOf('audiences_search', args, many);
      const names = (result.audiences as { name: string }[]).map(({ name }) => name);
      return { names, cut };
    };
    const { body } = await gateway.call(
      '/api/audiences/search',
      { organization_id: 'org_many_audiences', page: 2, limit: 100 },
      { key: organization },
    );
    const expected = (body.audiences as { name: string }[]).map(({ name }) => name);
    const first = await read({ page: 2, limit: 100 });
    const [, limit, page] = /`limit` (\d+) and `page` (\d+)\.$/.exec(String(first.cut)) ?? [];
    const second = await read({ page: Number(page), limit: Number(limit) });
    expect(first.names.length).to.be.within(1, 99);
    expect([...first.names, ...second.names]).to.deep.equal(
      expected.slice(0, first.names.length + second.names.length),
    );
    const rows = { statement: "SELECT repeat('x', 900) FROM numbers(100)", limit: 100 };
    expect((await answerOf('sql', rows, many)).cut).to.contain('LIMIT and OFFSET');
    await many.close();
  });

  it('says how fresh every stream behind a result is, and when its tool answers series', async () => {
    const range = { start_date: TODAY, end_date: TODAY };
    for (const [name, args] of [
      ['companies_search', range],
      ['companies_get', { ...range, domain: 'redstone-media.example' }],
      ['advertising_network_a_influence', range],
      ['sql', { statement: 'SELECT 1' }],
    ] as const) {
      const { trust } = await answerOf(name, args, sample);
      expect(trust, name).to.have.property('last_accepted_at').that.is.a('string');
      expect(trust, name).to.include.keys('last_date', 'provisional_from');
    }
    const { tools } = await sample.listTools();
    for (const { name, description, inputSchema } of tools) {
      const hasSeries = 'granularity' in (inputSchema.properties ?? {});
      expect(description?.includes('Series are answered if `granularity` is given.'), name).to.equal(
        hasSeries,
      );
    }
  });

  it('offers the columns of SQL as a resource, and names them in the description of its tool', async () => {
    const { resources } = await sample.listResources();
    const [{ text }] = (await sample.readResource({ uri: resources[0]?.uri as string }))
      .contents as unknown as [{ text: string }];
    const columns: Record<string, string[]> = {};
    for (const line of text.split('\n').slice(1)) {
      const [, view = '', column = ''] = /^"(\w+)","(\w+)"/.exec(line) ?? [];
      columns[view] = [...(columns[view] ?? []), column];
    }
    expect(columns).to.deep.equal(SQL_VIEWS);
    const { tools } = await sample.listTools();
    const { description } = tools.find(({ name }) => name === 'sql') ?? {};
    for (const view of Object.keys(SQL_VIEWS)) expect(description).to.contain(`${view}(`);
  });

  it('answers what was spent in a range, by currency, and how it compares, in one call', async () => {
    const path = '/api/advertising/network_a/campaigns';
    const { example } = endpoints.find((endpoint) => endpoint.path === path) as (typeof endpoints)[number];
    const { start_date, end_date } = example as { start_date: string; end_date: string };
    const asked = {
      start_date,
      end_date,
      metrics: ['ad_spend'],
      page_size: 1,
      compare_to: 'previous_period',
    };
    const { result } = await answerOf(nameOf(path), asked, sample);
    const { body } = await gateway.call(path, { ...asked, granularity: 'monthly' }, { key });
    expect(result.totals).to.deep.equal(body.totals).and.have.nested.property('[0].ad_spend');
    expect(result.previous_totals).to.deep.equal(body.previous_totals);
  });

  it('answers a search with a page of 10 and how fresh the stream is', async () => {
    const { result, trust } = await answerOf('contacts_search', { query: 'marai' });
    expect(result.total_count).to.equal(12);
    expect(result.contacts).to.have.lengthOf(10);
    expect(trust).to.have.property('last_accepted_at').that.is.a('string');
  });

  it('names the warnings of provisional figures, and describes metrics and provisional days', async () => {
    const range = { start_date: TODAY, end_date: TODAY, granularity: 'monthly' };
    const { result, trust } = await answerOf('advertising_network_a_campaigns', range);
    expect(result).to.have.nested.property('items[0].timeseries[0].period', TODAY.slice(0, 7));
    expect((trust as { warnings: string[] }).warnings.join()).to.contain('data_provisional');
    expect(trust).to.have.property('last_date', TODAY);
    const { metrics, status } = await answerOf('describe');
    expect((metrics as Record<string, string>).ctr).to.contain('sum(clicks) ÷ sum(impressions)');
    expect(status).to.have.nested.property('streams.network-a-deliveries.provisional_from');
  });

  it('says in the result why an operation is rejected', async () => {
    for (const [name, args, words, using] of [
      ['contacts_search', { limit: 0, qeury: 'x' }, ['validation_failed', '/limit', '/qeury'], client],
      ['contacts_get', { contact_id: 'nobody' }, ['contact_not_found'], client],
      ['contacts_search', {}, ['insufficient_scope', 'contacts:read'], limited],
      ['audiences_contacts_add_many', { audience_id: 'aud_1' }, ['Exactly one of'], client],
    ] as const) {
      const { content, isError } = await using.callTool({ name, arguments: args });
      expect(isError).to.equal(true);
      for (const word of words) expect(JSON.stringify(content).slice(0, 1000)).to.include(word);
    }
  });

  it('makes an audience, names it anew, and adds and removes all that a filter finds', async () => {
    const { result: made } = await answerOf('audiences_create', { name: 'Marias' });
    const { audience_id } = made;
    const renamed = { audience_id, name: 'All Marias', description: 'May' };
    const { result: changed } = await answerOf('audiences_update', renamed);
    expect(changed.audience).to.include({ name: 'All Marias', description: 'May' });
    const all = { audience_id, filter: { query: 'maria' } };
    const added = await answerOf('audiences_contacts_add_many', all);
    expect(added.result).to.include({ changed: 12 }).and.not.to.have.property('next_cursor');
    const counted = await answerOf('audiences_search', { query: 'marias', include_counts: true });
    expect(counted.result).to.have.nested.property('audiences[0].member_count', 12);
    const few = { audience_id, contact_ids: ['c0', 'none'] };
    const removed = await answerOf('audiences_contacts_remove_many', few);
    expect(removed.result).to.deep.include({ changed: 1, not_found: ['none'] });
  });

  it('creates a contact only after a dry run was shown and exactly that is confirmed, and changes it', async () => {
    const args = { audience_id: 'aud_1', first_name: 'Ada', work_emails: ['ada@example.com'] };
    const shown = await answerOf('contacts_create', args);
    expect(shown).to.include({ created: false });
    expect(shown).to.have.nested.property('would_create.dry_run', true);
    const count = async () => (await answerOf('contacts_search', { query: 'ada' })).result.total_count;
    expect(await count()).to.equal(0);

    const { confirmation } = shown;
    const other = await answerOf('contacts_create', { ...args, first_name: 'Eve', confirmation });
    expect(other).to.include({ created: false });
    expect(await count()).to.equal(0);

    const { created, answer } = await answerOf('contacts_create', { ...args, confirmation });
    expect(created).to.equal(true);
    expect(await count()).to.equal(1);
    // As after a lost response: returns the same contact, although it would be a duplicate now.
    const again = await answerOf('contacts_create', { ...args, confirmation });
    expect(again).to.deep.equal({ created, answer });
    expect(await count()).to.equal(1);

    const { contact_id } = answer as Json;
    const changed = await answerOf('contacts_update', { contact_id, city: 'Oslo', first_name: null });
    expect(changed).to.have.nested.property('result.contact.city', 'Oslo');
    expect(changed).not.to.have.nested.property('result.contact.first_name');
  });

  it('debits a confirmed contact once, and answers it again to the same call', async () => {
    const paying = await connect(gateway.url, await gateway.keyFor('org_paying'));
    await gateway.stores.records.setCredits('org_paying', 10);
    const { result } = await answerOf('audiences_create', { name: 'Leads' }, paying);
    const args = {
      audience_id: result.audience_id,
      first_name: 'Once',
      work_emails: ['once@example.com'],
      required_credits: 3,
    };
    const { confirmation } = await answerOf('contacts_create', args, paying);
    const confirmed = () => answerOf('contacts_create', { ...args, confirmation }, paying);
    const [first, second] = [await confirmed(), await confirmed()];
    expect(first).to.have.nested.property('answer.credit_balance', 7);
    expect(second).to.deep.equal(first);
    expect(await gateway.stores.records.getCredits('org_paying')).to.equal(7);
    // A balance that differs from the shown balance needs another confirmation.
    const other = { ...args, first_name: 'Twice', work_emails: ['twice@example.com'] };
    const shown = await answerOf('contacts_create', other, paying);
    await gateway.stores.records.setCredits('org_paying', 5);
    const late = await answerOf('contacts_create', { ...other, confirmation: shown.confirmation }, paying);
    expect(late).to.include({ created: false });
    const swapped = await answerOf('contacts_create', { ...other, confirmation }, paying);
    expect(swapped).to.include({ created: false });
    expect(await gateway.stores.records.getCredits('org_paying')).to.equal(5);
    await paying.close();
  });

  it('counts what operations of tools answer, by operation and status, and their problems', async () => {
    const call = () => client.callTool({ name: 'contacts_get', arguments: { contact_id: 'nobody' } });
    await call();
    await client.callTool({ name: 'contacts_get', arguments: { contact_id: 'c1' } });
    await until(async () => {
      const { text } = await gateway.call('/metrics', undefined, { method: 'GET', key: null });
      const has = (line: string) => text.split('\n').some((each) => each.startsWith(line));
      return (
        has('reachline_mcp_operations_total{operation="/api/contacts/get",status="404"} ') &&
        has('reachline_mcp_operations_total{operation="/api/contacts/get",status="200"} ') &&
        has('reachline_http_problems_total{code="contact_not_found"} ')
      );
    }, 'the metrics name the answers of the tools');
  });

  it('has the key, the origins, the methods and the size of a body of the API', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const send = (options: object, body: unknown = ping) => gateway.call('/mcp', body, { key, ...options });
    const bearer = { Authorization: `Bearer ${key}` };
    expectProblem(await send({ key: null }), 401, 'missing_api_key');
    expectProblem(await send({ key: null, headers: bearer }), 401, 'missing_api_key');
    for (const origin of ['https://evil.example', gateway.url]) {
      expectProblem(await send({ headers: { Origin: origin } }), 403, 'origin_not_allowed');
    }
    expectProblem(await send({ method: 'GET' }), 405, 'method_not_allowed');
    expectProblem(await send({ raw: '[]' }), 400, 'invalid_body');
    const large = { ...ping, params: { text: 'x'.repeat(1024 * 1024) } };
    expectProblem(await send({}, large), 413, 'body_too_large');
    await until(async () => {
      const { text } = await gateway.call('/metrics', undefined, { method: 'GET', key: null });
      return /operation="\/mcp",status="401"/.test(text);
    }, 'the metrics name the answer');
  });

  it('answers whatever the request says its host is', async () => {
    for (const Host of ['[', 'a b', 'reachline:99999']) {
      const headers = {
        'X-Api-Key': key,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Host,
      };
      const asked = request(`${gateway.url}/mcp`, { method: 'POST', headers });
      asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.resume();
      expect(answer.statusCode, Host).to.equal(200);
    }
  });

  it('says what to install where its package is missing', async () => {
    const logger = createLogger('silent');
    const config = { ...loadConfig({ PORT: '0' }), dataDir: gateway.dataDir };
    const mcp = async () => {
      throw new MissingPackageError('Install it.');
    };
    const other = await startGateway(config, gateway.stores, logger, { mcp });
    try {
      expectProblem(await callerOf(other.url, key).call('/mcp', {}), 501, 'mcp_unavailable');
    } finally {
      await other.stop();
    }
  });

  it('has the same tools and answers on standard input and output, as its page starts it', async () => {
    const command = await connectByCommand(gateway.url, gateway.key);
    const usual = await connect(gateway.url, gateway.key, 'core');
    try {
      expect(await command.listTools()).to.deep.include({ tools: (await usual.listTools()).tools });
      const { result } = await answerOf('contacts_search', { query: 'maria' }, command);
      expect(result).to.deep.equal((await answerOf('contacts_search', { query: 'maria' })).result);
      const args = { limit: 0 };
      expect(await command.callTool({ name: 'contacts_search', arguments: args })).to.deep.include({
        isError: true,
        content: (await client.callTool({ name: 'contacts_search', arguments: args })).content,
      });
    } finally {
      await command.close();
    }
  });

  it('ends with an error at a message of more than 2 MiB', async () => {
    const io = {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      env: { REACHLINE_API_KEY: gateway.key },
    };
    const ended = mcp(io, { url: gateway.url }).catch((error: Error) => error);
    // The input stays open.
    io.stdin.write('a'.repeat(3 * 1024 * 1024));
    expect(await ended).to.be.instanceOf(CommandError);
    expect(String(io.stderr.read())).to.match(/maximum size of 2097152 bytes/);
  });
});
