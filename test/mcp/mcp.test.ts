import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { endpoints } from '../../services/gateway/api.js';
import { packageRoot } from '../../services/shared/fs.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const COMMAND = join(packageRoot, 'dist/services/cli/main.js');
type Json = Record<string, unknown>;

/** The server as the settings in docs/reference/mcp.md start it, with an address and key of the test. */
async function connect(url: string, key: string): Promise<Client> {
  const page = readFileSync(join(packageRoot, 'docs/reference/mcp.md'), 'utf8');
  const [, settings = ''] = /```json\n([^`]+)```/.exec(page) ?? [];
  const { command, args, env } = JSON.parse(settings).mcpServers.reachline;
  expect(Object.keys(env)).to.deep.equal(['REACHLINE_API_KEY']);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const own = args.map((arg: string) => (arg.startsWith('http') ? url : arg));
  await client.connect(
    new StdioClientTransport({
      command: command.replace('/path/to/reachline', packageRoot),
      args: own,
      env: { REACHLINE_API_KEY: key },
    }),
  );
  return client;
}

describe('The server of the Model Context Protocol', function () {
  this.timeout(60_000);
  let gateway: TestGateway;
  let client: Client;
  before(async () => {
    gateway = await startTestGateway();
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'Customers' }]);
    const contacts = Array.from({ length: 12 }, (_, index) => ({
      contact_id: `c${index}`,
      first_name: 'Maria',
      work_emails: [`maria${index}@example.com`],
    }));
    await gateway.ingest('contacts', contacts);
    const today = new Date().toISOString().slice(0, 10);
    const delivery = { campaign_id: 'cam', creative_id: 'cre', date: today, impressions: 10, clicks: 1 };
    await gateway.ingest('network-a-deliveries', [delivery]);
    client = await connect(gateway.url, gateway.key);
  });
  after(async () => {
    await client?.close();
    await gateway.close();
  });

  const callTool = async (name: string, args: Json = {}, using = client) => {
    const { content, isError } = await using.callTool({ name, arguments: args });
    const [{ text }] = content as unknown as [{ text: string }];
    return { text, isError: isError ?? false };
  };
  const answerOf = async (name: string, args: Json = {}) => {
    const { text, isError } = await callTool(name, args);
    expect(isError, text).to.equal(false);
    return JSON.parse(text) as { trust: Json; result: Json } & Json;
  };

  it('lists every reading operation with its schema, and apart from them the tools that write', async () => {
    const { tools } = await client.listTools();
    const reading = endpoints.filter(({ scope }) => scope.every((each) => each.endsWith(':read')));
    expect(tools.map(({ name }) => name).sort()).to.deep.equal(
      [
        ...reading.map(({ path }) => path.replace('/api/', '').replaceAll(/[/-]/g, '_')),
        'describe',
        ...['audiences_create', 'audiences_update'],
        ...['audiences_contacts_add_many', 'audiences_contacts_remove_many'],
        ...['contacts_create', 'contacts_update'],
      ].sort(),
    );
    const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
    expect(writing.map(({ name, annotations }) => [name, annotations?.destructiveHint]).sort()).to.deep.equal(
      [
        ['audiences_contacts_add_many', false],
        ['audiences_contacts_remove_many', true],
        ['audiences_create', false],
        ['audiences_update', true],
        ['contacts_create', false],
        ['contacts_update', true],
      ],
    );
    for (const { name, description, inputSchema } of tools) {
      expect(description, name).to.match(/[a-z]/);
      expect(inputSchema.properties ?? {}, name).not.to.have.property('organization_id');
      expect(JSON.stringify(inputSchema), name).not.to.match(/"null"|:null|\$id/);
    }
    const search = tools.find(({ name }) => name === 'contacts_search');
    expect(search?.inputSchema.properties).to.have.nested.property('limit.default', 10);
  });

  it('answers a search with a page of 10 and how fresh the stream is', async () => {
    const { result, trust } = await answerOf('contacts_search', { query: 'marai' });
    expect(result.total_count).to.equal(12);
    expect(result.contacts).to.have.lengthOf(10);
    expect(trust).to.have.nested.property('streams.contacts.records', 12);
    expect(trust).to.have.nested.property('streams.contacts.last_accepted_at').that.is.a('string');
  });

  it('names the warnings of provisional figures', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const { result, trust } = await answerOf('advertising_network_a_campaigns', {
      start_date: today,
      end_date: today,
    });
    expect(result).to.have.nested.property('items[0].timeseries[0].period', today.slice(0, 7));
    expect((trust.warnings as string[]).join()).to.contain('data_provisional');
    expect(trust).to.have.nested.property('streams.network-a-deliveries.last_date', today);
  });

  it('describes metrics with their formulas, freshness and provisional days', async () => {
    const { metrics, status } = await answerOf('describe');
    const ctr = (metrics as { name: string; formula: string }[]).find(({ name }) => name === 'ctr');
    expect(ctr?.formula).to.contain('sum(clicks) ÷ sum(impressions)');
    expect(status).to.have.nested.property('streams.network-a-deliveries.provisional_from');
  });

  it('answers a rejected request with the problem and every broken rule', async () => {
    const { text, isError } = await callTool('contacts_search', { limit: 0, qeury: 'x' });
    expect(isError).to.equal(true);
    expect(text).to.contain('validation_failed').and.contain('/limit').and.contain('/qeury');
    const missing = await callTool('contacts_get', { contact_id: 'nobody' });
    expect(missing.isError).to.equal(true);
    expect(missing.text).to.contain('contact_not_found');
  });

  it('rejects a result that is too large with how to ask for less', async () => {
    const { text, isError } = await callTool('advertising_network_a_campaigns', {
      start_date: '2020-01-01',
      end_date: '2026-01-01',
      granularity: 'daily',
    });
    expect(isError, text.slice(0, 200)).to.equal(true);
    expect(text).to.contain('granularity monthly');
  });

  it('makes an audience, names it anew, and adds and removes all that a filter finds', async () => {
    const made = await answerOf('audiences_create', { name: 'Marias' });
    const { audience_id } = made.result as { audience_id: string };
    const renamed = await answerOf('audiences_update', {
      audience_id,
      name: 'All Marias',
      description: 'May',
    });
    expect(renamed.result.audience).to.include({ name: 'All Marias', description: 'May' });
    const all = { audience_id, filter: { query: 'maria' } };
    const added = await answerOf('audiences_contacts_add_many', all);
    expect(added.result).to.include({ changed: 12 }).and.not.to.have.property('next_cursor');
    const counted = await answerOf('audiences_search', { query: 'marias', include_counts: true });
    expect(counted.result).to.have.nested.property('audiences[0].member_count', 12);
    const few = { audience_id, contact_ids: ['c0', 'none'] };
    const removed = await answerOf('audiences_contacts_remove_many', few);
    expect(removed.result).to.deep.include({ changed: 1, not_found: ['none'] });
    const { text, isError } = await callTool('audiences_contacts_add_many', { audience_id });
    expect(isError).to.equal(true);
    expect(text).to.contain('Exactly one of');
  });

  it('creates a contact only after a dry run was shown and exactly that is confirmed', async () => {
    const args = { audience_id: 'aud_1', first_name: 'Ada', work_emails: ['ada@example.com'] };
    const shown = await answerOf('contacts_create', args);
    expect(shown).to.include({ created: false });
    expect(shown).to.have.nested.property('would_create.dry_run', true);
    const count = async () => (await answerOf('contacts_search', { query: 'ada' })).result.total_count;
    expect(await count()).to.equal(0);

    const confirmation = shown.confirmation as string;
    const other = await answerOf('contacts_create', { ...args, first_name: 'Eve', confirmation });
    expect(other).to.include({ created: false });
    expect(await count()).to.equal(0);

    const created = await answerOf('contacts_create', { ...args, confirmation });
    expect(created).to.include({ created: true });
    expect(await count()).to.equal(1);
    // The same confirmation again: the contact is a duplicate now, which was not shown.
    const again = await answerOf('contacts_create', { ...args, confirmation });
    expect(again).to.include({ created: false });
    expect(await count()).to.equal(1);
  });

  it('ends with an error at a message of more than 2 MiB', async () => {
    const server = spawn(process.execPath, [COMMAND, 'mcp', '--url', gateway.url], {
      env: { REACHLINE_API_KEY: gateway.key },
    });
    let errors = '';
    server.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    server.stdin.on('error', () => undefined);
    // The input stays open.
    server.stdin.write('a'.repeat(3 * 1024 * 1024));
    const [code] = await once(server, 'close');
    expect(code).to.equal(1);
    expect(errors).to.match(/maximum size of 2097152 bytes/);
  });

  it('names the scope that its key lacks', async () => {
    const limited = await connect(gateway.url, await gateway.keyFor('org_a', ['visits:read']));
    try {
      const { text, isError } = await callTool('contacts_search', {}, limited);
      expect(isError).to.equal(true);
      expect(text).to.contain('contacts:read');
    } finally {
      await limited.close();
    }
  });
});
