import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { run } from '../cli/support.js';
import { useGateway } from '../support/gateway.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { readDoc } from './support.js';

const GUIDE = readDoc('docs/guides/keep-in-step.md');
const blockOf = (name: string): string =>
  new RegExp(`^\`\`\`js ${name}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(GUIDE)?.[1] ?? expect.fail(name);
const RECEIVER = blockOf('receiver');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const APPLY = /^async function apply\([\s\S]*?^}\n/m;

interface CrmContact {
  id: string;
  properties: Record<string, string>;
}

/** Answers as HubSpot documents its contacts. Its search is always one change behind. */
function startCrm(): { server: Server; contacts: Map<string, CrmContact>; requests: string[] } {
  const contacts = new Map<string, CrmContact>();
  const requests: string[] = [];
  let searched: CrmContact[] = [];
  const find = (id: string, property: string | null) =>
    [...contacts.values()].find((each) => (property ? each.properties[property] : each.id) === id);
  const answer = (method: string, url: URL, body: string): unknown => {
    const path = url.pathname.replace('/crm/v3/objects/contacts', '');
    if (path === '/batch/upsert') {
      const [{ id = '', idProperty = '', properties = {} } = {}] = JSON.parse(body).inputs;
      const found = find(id, idProperty) ?? {
        id: String(contacts.size + 1000),
        properties: { [idProperty]: id },
      };
      found.properties = { ...found.properties, ...properties };
      contacts.set(found.id, found);
      return { results: [found] };
    }
    if (path === '/search') {
      const { value } = JSON.parse(body).filterGroups[0].filters[1];
      const results = searched.filter(
        ({ properties }) => ![undefined, value].includes(properties.reachline_run),
      );
      return { results };
    }
    const found = find(decodeURIComponent(path.slice(1)), url.searchParams.get('idProperty'));
    if (method === 'DELETE') contacts.delete(found?.id ?? '');
    return found && (method === 'DELETE' ? null : found);
  };
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    requests.push(`${request.method} ${request.headers.authorization}`);
    searched = structuredClone([...contacts.values()]);
    // Every fourth request meets a busy CRM.
    if (requests.length % 4 === 0) return response.writeHead(429).end();
    const result = answer(request.method ?? '', new URL(request.url ?? '', 'http://crm'), body);
    const status = result === undefined ? 404 : result === null ? 204 : 200;
    response.writeHead(status).end(result ? JSON.stringify(result) : undefined);
  }).listen(0, '127.0.0.1');
  return { server, contacts, requests };
}

describe('The receiver of docs/guides/keep-in-step.md', function () {
  this.timeout(120_000);
  const gateway = useGateway();
  const children: ChildProcess[] = [];
  let folder: string;
  let organization: string;
  let organizations = 0;
  let key: string;
  beforeEach(async () => {
    folder = tempFolder();
    organization = `org_${++organizations}`;
    key = await gateway.keyFor(organization);
    writeFileSync(join(folder, 'secret'), SECRET);
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill();
  });

  const save = (records: readonly object[]) => gateway.ingest('contacts', records, { key });
  const remove = (...contact_ids: string[]) =>
    gateway.call('/api/contacts/delete', { organization_id: organization, contact_ids }, { key });

  /** Starts the program on a free port. */
  async function startReceiver(program: string, environment: Record<string, string> = {}) {
    const file = join(folder, 'receiver.mjs');
    const listening = program.replace(
      /\.listen\(9000, '127\.0\.0\.1'\)/,
      `.listen(0, '127.0.0.1', function () { console.log('port', this.address().port); })`,
    );
    writeFileSync(file, listening);
    const child = spawn(process.execPath, [file], { env: { WEBHOOK_SECRET: SECRET, ...environment } });
    children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    await until(() => /port \d+/.test(output), 'the receiver listens');
    return { url: `http://127.0.0.1:${/port (\d+)/.exec(output)?.[1]}`, output: () => output };
  }

  const follow = (url: string, secret = join(folder, 'secret'), ...more: string[]) =>
    run(
      [
        ...[
          'changes',
          '--organization',
          organization,
          '--state',
          join(folder, 'state.json'),
          '--secret-file',
          secret,
        ],
        ...['--post', url, '--allow-private', '--once', ...more],
      ],
      { env: { REACHLINE_URL: gateway.url, REACHLINE_API_KEY: key, REACHLINE_LOG_LEVEL: 'silent' } },
    );

  it('is thirty lines, and has what a search finds', async () => {
    expect(RECEIVER.trimEnd().split('\n')).to.have.lengthOf.at.most(30);
    const { url, output } = await startReceiver(RECEIVER);
    await save([{ contact_id: 'a' }, { contact_id: 'b' }, { contact_id: 'c' }]);
    await remove('b');
    expect(await follow(url)).to.include({ code: 0, stderr: '' });
    await until(() => output().includes('in step with 2 contacts'), 'it has two');
    await remove('a', 'c');
    await follow(url);
    writeFileSync(join(folder, 'filter.json'), '{"country": "US"}');
    await follow(url, undefined, '--filter', join(folder, 'filter.json'));
    await until(() => output().includes('in step with 0 contacts'), 'it has none');
  });

  it('takes only messages that are signed with its secret, now', async () => {
    const { url, output } = await startReceiver(RECEIVER);
    const body = '{"type":"changes.complete","run":"r","data":{}}';
    const post = async (headers: Record<string, string>) =>
      (await fetch(url, { method: 'POST', headers, body })).status;
    const { Webhook } = await import('standardwebhooks');
    const signed = (at: number, secret = SECRET) => ({
      'webhook-id': 'm1',
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': new Webhook(secret).sign('m1', new Date(at), body),
    });
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const now = Date.now();
    expect(await post({})).to.equal(401);
    expect(await post(signed(now, other))).to.equal(401);
    expect(await post(signed(now - 600_000))).to.equal(401);
    expect(await post({ ...signed(now), 'webhook-timestamp': 'NaN' })).to.equal(401);
    expect(await post({ ...signed(now), 'webhook-id': 'm2' })).to.equal(401);
    expect(output()).to.not.contain('in step');
    expect(await post(signed(now))).to.equal(204);
    const both = [signed(now, other), signed(now)].map((each) => each['webhook-signature']).join(' ');
    expect(await post({ ...signed(now), 'webhook-signature': both })).to.equal(204);
  });

  it('keeps a CRM in step that is busy, and leaves what others made there', async () => {
    const { server, contacts, requests } = startCrm();
    await once(server, 'listening');
    try {
      contacts.set('1', { id: '1', properties: { firstname: 'Colleague' } });
      const program = RECEIVER.replace(APPLY, () => blockOf('crm'));
      const { url, output } = await startReceiver(program, {
        HUBSPOT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        HUBSPOT_TOKEN: 'token',
      });
      const names = () => [...contacts.values()].map(({ properties }) => properties.firstname).sort();
      await save([
        { contact_id: 'p', first_name: 'Ada', work_emails: ['ada@example.com'] },
        { contact_id: 'q', first_name: 'Grace' },
      ]);
      expect(await follow(url)).to.include({ code: 0 });
      expect(names()).to.deep.equal(['Ada', 'Colleague', 'Grace']);
      await save([{ contact_id: 'p', first_name: 'Ada Augusta' }]);
      await remove('q');
      await follow(url);
      expect(names()).to.deep.equal(['Ada Augusta', 'Colleague']);
      await save([{ contact_id: 'r', first_name: 'Rear Admiral', country: 'US' }]);
      await follow(url);
      writeFileSync(join(folder, 'filter.json'), '{"country": "US"}');
      await follow(url, undefined, '--filter', join(folder, 'filter.json'));
      expect(names(), output()).to.deep.equal(['Colleague', 'Rear Admiral']);
      expect(requests.every((each) => each.endsWith(' Bearer token'))).to.equal(true);
      const state = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as { complete: boolean };
      expect(state.complete).to.equal(true);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
