import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { endpoints } from '../../services/gateway/api.js';
import { startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { MissingPackageError } from '../../services/shared/optional-package.js';
import { callerOf, startSampleGateway, type TestGateway } from '../support/gateway.js';
import { expectProblem } from '../support/problems.js';

type Json = Record<string, unknown>;

/** Validates every structured result against the schema that the server declares. */
async function connect(url: string, key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { 'X-Api-Key': key } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  return client;
}

describe('The Model Context Protocol over HTTP', function () {
  this.timeout(60_000);
  let gateway: TestGateway;
  let key: string;
  let client: Client;
  before(async () => {
    gateway = await startSampleGateway();
    key = await gateway.keyFor(DEMO_ORGANIZATION);
    client = await connect(gateway.url, key);
  });
  after(async () => {
    await client?.close();
    await gateway?.close();
  });

  async function callTool(name: string, args: Json = {}, using = client): Promise<Json> {
    const { content, isError, structuredContent } = await using.callTool({ name, arguments: args });
    const [{ text }] = content as unknown as [{ text: string }];
    expect(isError ?? false, text).to.equal(false);
    expect(structuredContent).to.deep.equal(JSON.parse(text));
    expect(text).not.to.match(/[^\\]":null[,}]/);
    return structuredContent as Json;
  }

  it('answers the example of every reading operation as its schema says, without fields that are null', async () => {
    const { tools } = await client.listTools();
    for (const { name, outputSchema } of tools) expect(outputSchema, name).to.have.property('type', 'object');
    const reading = endpoints.filter(({ scope }) => scope.every((each) => each.endsWith(':read')));
    for (const { path, example } of reading) {
      const { organization_id: _, ...args } = example as Json;
      const name = path.replace('/api/', '').replaceAll(/[/-]/g, '_');
      expect(await callTool(name, args), name).to.include.keys('trust', 'result');
    }
    expect(await callTool('describe')).to.include.keys('status', 'metrics');
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
    const { result } = (await callTool('advertising_network_a_campaigns', asked)) as { result: Json };
    const { body } = await gateway.call(path, { ...asked, granularity: 'monthly' }, { key });
    expect(result.totals).to.deep.equal(body.totals).and.have.nested.property('[0].ad_spend');
    expect(result.previous_totals).to.deep.equal(body.previous_totals);
  });

  it('creates a contact only as it was confirmed, and changes it', async () => {
    const args = { audience_id: 'aud_customers', first_name: 'Una', work_emails: ['una@mcp.example'] };
    const { confirmation, created } = await callTool('contacts_create', args);
    expect(created).to.equal(false);
    const { answer } = (await callTool('contacts_create', { ...args, confirmation })) as { answer: Json };
    const contact_id = answer.contact_id as string;
    const changed = await callTool('contacts_update', { contact_id, city: 'Oslo', first_name: null });
    expect(changed).to.have.nested.property('result.contact.city', 'Oslo');
    expect(changed).not.to.have.nested.property('result.contact.first_name');
  });

  it('says in the result why an operation is rejected', async () => {
    const limited = await connect(gateway.url, await gateway.keyFor(DEMO_ORGANIZATION, ['visits:read']));
    for (const [name, args, words, using] of [
      ['contacts_search', { limit: 0, qeury: 'x' }, ['validation_failed', '/limit', '/qeury'], client],
      ['contacts_get', { contact_id: 'nobody' }, ['contact_not_found'], client],
      ['contacts_search', {}, ['insufficient_scope', 'contacts:read'], limited],
    ] as const) {
      const { content, isError } = await using.callTool({ name, arguments: args });
      expect(isError).to.equal(true);
      for (const word of words) expect(JSON.stringify(content)).to.include(word);
    }
    await limited.close();
  });

  it('has the key, the origins, the methods and the size of a body of the API', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const send = (options: object, body: unknown = ping) => gateway.call('/mcp', body, { key, ...options });
    expectProblem(await send({ key: null }), 401, 'missing_api_key');
    expectProblem(
      await send({ key: null, headers: { Authorization: `Bearer ${key}` } }),
      401,
      'missing_api_key',
    );
    for (const origin of ['https://evil.example', gateway.url]) {
      expectProblem(await send({ headers: { Origin: origin } }), 403, 'origin_not_allowed');
    }
    expectProblem(await send({ method: 'GET' }), 405, 'method_not_allowed');
    expectProblem(await send({ raw: '[]' }), 400, 'invalid_body');
    const large = { ...ping, params: { text: 'x'.repeat(1024 * 1024) } };
    expectProblem(await send({}, large), 413, 'body_too_large');
    const { text } = await gateway.call('/metrics', undefined, { method: 'GET', key: null });
    expect(text).to.match(/operation="\/mcp",status="401"/);
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
});
