import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { DataFolderError } from '../../services/stores/data-folder/errors.js';
import { readFolderId, writeFolderId } from '../../services/stores/data-folder/folder-id.js';
import { openSqliteStore } from '../../services/stores/sqlite/store.js';
import { run } from '../cli/support.js';
import {
  prepareOrganization,
  type ServerOptions,
  type ServerProcess,
  startServer as startProcess,
} from '../support/server-process.js';
import { until } from '../support/until.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';

const ORGANIZATION = 'org_environment';
const EMBEDDED = { ELASTICSEARCH_URL: '', CLICKHOUSE_URL: '' };

/** The message of a server that cannot start: exit code 1, no output, no stack trace. */
function expectMessage(code: number | null, output: string, errors: string): string {
  expect(code, output + errors).to.equal(1);
  expect(output).to.equal('');
  expect(errors).not.to.match(/^\s+at /m);
  return errors.trim();
}

/** Runs the command in this process, because a new process takes long to start. */
async function errorOfServe(dataDir: string, environment: Record<string, string> = {}): Promise<string> {
  const env = { PORT: '0', REACHLINE_DATA_DIR: dataDir, ...environment };
  const { code, stdout, stderr } = await run(['serve'], { env });
  return expectMessage(code, stdout, stderr);
}

function expectFewLines(message: string): void {
  expect(message.split('\n').length, message).to.be.within(1, 2);
}

describe('A server on a small disk', function () {
  this.timeout(120_000);
  let disk: SmallDisk;
  let started: ServerProcess[] = [];
  const startServer = async (options: ServerOptions) => {
    // The stores of the shell would be servers, on no small disk.
    const server = await startProcess({ ...options, environment: EMBEDDED });
    started.push(server);
    return server;
  };

  beforeEach(function () {
    const mounted = mountSmallDisk(48);
    if (!mounted) {
      console.log('      skipped: this user may not mount a small file system');
      this.skip();
    }
    disk = mounted;
  });
  afterEach(async () => {
    for (const server of started) await server.kill();
    started = [];
    disk?.remove();
  });

  it('names the data folder when the disk is read-only', async () => {
    const dataDir = join(disk.path, 'data');
    await (await startServer({ dataDir })).stop();
    disk.makeReadOnly();
    const message = await errorOfServe(dataDir);
    expectFewLines(message);
    expect(message).to.include(dataDir).and.to.include('read-only');
  });

  it('names the data folder when the disk is full at the first start, and starts once space is free', async () => {
    const dataDir = join(disk.path, 'data');
    for (const leave of [0, 400_000]) {
      disk.fill(leave);
      const message = await errorOfServe(dataDir);
      expectFewLines(message);
      expect(message).to.include(dataDir).and.to.include('is full (storage_full)');
      disk.free();
    }
    const server = await startServer({ dataDir });
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('names the data folder when the disk is full once its stores are there, and not yet their id', async () => {
    const dataDir = join(disk.path, 'data');
    const options = { dataDir, searchProcesses: 1 };
    await (await openSqliteStore(options)).close();
    disk.fill();
    const write = () => writeFolderId(dataDir, { records: true, analytics: false });
    expect(write).to.throw(DataFolderError, dataDir);
    disk.free();
    write();
    expect(readFolderId(dataDir)).to.be.a('string');
  });

  it('answers writes with 503 while the disk is full, reads on, and starts on it after a kill', async () => {
    const dataDir = join(disk.path, 'data');
    const key = await prepareOrganization(dataDir, ORGANIZATION, 100);
    let server = await startServer({ dataDir, key });
    const person = (name: string) => ({ contact_id: name, first_name: name, audience_ids: ['aud'] });
    await server.ingest('audiences', [{ id: 'aud', name: 'Audience' }]);
    await server.ingest('contacts', [person('before')]);
    await server.ingest('website-visits', [{ id: 'before', createdAt: '2026-01-01T00:00:00Z' }]);
    const delivery = {
      date: '2026-01-31',
      campaign_id: 'cam',
      creative_id: 'cr',
      reported_at: '2026-02-01T00:00:00Z',
    };
    await server.ingest('network-a-deliveries', [{ ...delivery, impressions: 5 }]);

    const create = (name: string) =>
      server.call(
        '/api/contacts/create?required_credits=3',
        { organization_id: ORGANIZATION, audience_id: 'aud', first_name: name },
        { headers: { 'Idempotency-Key': name } },
      );
    const figures = [
      { ...delivery, impressions: 7, reported_at: '2026-03-02T00:00:00Z' },
      { ...delivery, date: '2026-02-01', impressions: 11 },
    ];
    const writes = () =>
      Promise.all([
        create('rejected'),
        server.ingest(
          'contacts',
          Array.from({ length: 300 }, (_, index) => person(`rejected_${index}`)),
        ),
        server.ingest(
          'website-visits',
          Array.from({ length: 300 }, (_, index) => ({
            id: `rejected_${index}`,
            createdAt: '2026-01-02T00:00:00Z',
          })),
        ),
        server.ingest('network-a-deliveries', figures),
      ]);
    const state = async () => {
      const contacts = await server.call('/api/contacts/search', { organization_id: ORGANIZATION });
      const words = await server.call('/api/contacts/search', {
        organization_id: ORGANIZATION,
        query: 'rejected',
      });
      const members = await server.call('/api/audiences/contacts/search', {
        organization_id: ORGANIZATION,
        audience_id: 'aud',
      });
      const visits = await server.call('/api/website-visits/search', { organization_id: ORGANIZATION });
      const campaigns = await server.call('/api/advertising/network_a/campaigns', {
        start_date: '2026-01-01',
        end_date: '2026-02-28',
      });
      for (const { status, text } of [contacts, words, members, visits, campaigns]) {
        expect(status, text).to.equal(200);
      }
      return {
        contacts: contacts.body.total_count,
        words: words.body.total_count,
        members: members.body.total_count,
        visits: visits.body.total_count,
        impressions: (campaigns.body.items as { impressions: number }[])[0]?.impressions,
      };
    };
    const balance = async () => {
      const { body } = await server.call('/api/contacts/create?dry_run=true&required_credits=0', {
        organization_id: ORGANIZATION,
        audience_id: 'aud',
      });
      return body.credit_balance;
    };
    const before = { contacts: 1, words: 0, members: 1, visits: 1, impressions: 5 };
    const readiness = async (query = '') => {
      const response = await fetch(`${server.url}/readyz${query}`);
      const { ready, writable, stores, problems } = (await response.json()) as Record<string, unknown>;
      return { status: response.status, ready, writable, stores, problems };
    };
    const problems = ['records', 'analytics'].map(
      (store) => `The disk of the ${store} store is full: make room. Writes get 503 storage_full until then.`,
    );
    const expectUnavailable = async () => {
      const stores = { records: 'full', analytics: 'full' };
      const body = { ready: true, writable: false, stores, problems };
      expect(await readiness(), 'reads are served').to.deep.equal({ status: 200, ...body });
      expect(await readiness('?writes=1')).to.deep.equal({ status: 503, ...body });
      for (const answer of await writes()) {
        expect(answer.status, answer.text).to.equal(503);
        expect(answer.body.code, answer.text).to.equal('storage_full');
        expect(Number(answer.headers.get('Retry-After'))).to.be.greaterThan(0);
        expect(answer.text).not.to.match(/SQL|DB::/i);
      }
      expect(await state()).to.deep.equal(before);
      expect(await balance(), 'a dry run writes nothing, so it needs no space').to.equal(100);
    };

    disk.fill();
    await expectUnavailable();
    await server.kill();
    disk.fill();
    server = await startServer({ dataDir, key });
    expect(await readiness(), 'reads are served').to.include({ status: 200, ready: true, writable: false });
    disk.free();
    for (const answer of await writes()) expect(answer.status, answer.text).to.equal(200);
    const after = { contacts: 302, words: 301, members: 302, visits: 301, impressions: 18 };
    expect(await state()).to.deep.equal(after);
    await until(
      async () => (await readiness('?writes=1')).status === 200,
      'the response of /readyz is fresh',
    );
    expect(await balance()).to.equal(97);
    expect((await create('rejected')).headers.get('Idempotency-Replayed')).to.equal('true');
    expect(await balance()).to.equal(97);
    await server.kill();
    server = await startServer({ dataDir, key });
    expect(await state()).to.deep.equal(after);
    await server.kill();
  });

  it('serves reads and says so if the disk is full at a later start with the sample', async () => {
    const dataDir = join(disk.path, 'data');
    // Credits mark a complete sample.
    const key = await prepareOrganization(dataDir, DEMO_ORGANIZATION, 100);
    await (await startServer({ dataDir })).stop();
    disk.fill();
    const server = await startServer({ dataDir, key, args: ['serve', '--demo'] });
    await until(
      () => server.output().includes('The disk of the records store is full'),
      'the server says so',
    );
    expect(server.output()).not.to.include('#key=');
    const { status } = await server.call('/api/contacts/search', { organization_id: DEMO_ORGANIZATION });
    expect(status).to.equal(200);
  });

  it('answers 503 to an erasure and to the first record of advertising, and starts while the log still holds the erased', async () => {
    const dataDir = join(disk.path, 'data');
    const key = await prepareOrganization(dataDir, ORGANIZATION);
    let server = await startServer({ dataDir, key });
    const people = ['one', 'two'].map((contact_id) => ({ contact_id, first_name: contact_id }));
    await server.ingest('contacts', people);
    const organization = { organization_id: ORGANIZATION };
    const erase = (contact_id: string) => server.call('/api/contacts/erase', { ...organization, contact_id });
    const get = async (contact_id: string) =>
      (await server.call('/api/contacts/get', { ...organization, contact_id })).status;
    const reader = new DatabaseSync(join(dataDir, 'reachline.db'), { readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM contacts').get();
    const { status, body } = await erase('one');
    expect([status, (body.proof as { completed_at: unknown }).completed_at]).to.deep.equal([200, null]);
    disk.fill();
    const refused = await erase('two');
    expect([refused.status, refused.body.code], refused.text).to.deep.equal([503, 'storage_full']);
    await server.kill();
    server = await startServer({ dataDir, key });
    expect([await get('one'), await get('two')]).to.deep.equal([404, 200]);
    disk.fill();
    const ingest = () => server.ingest('network-a-campaigns', [{ id: 'cam' }]);
    const rejected = await ingest();
    expect([rejected.status, rejected.body.code], rejected.text).to.deep.equal([503, 'storage_full']);
    const ready = await server.call('/readyz', undefined, { method: 'GET' });
    expect(ready.body).to.deep.include({ ready: true, stores: { records: 'full', analytics: 'full' } });
    reader.close();
    disk.free();
    expect((await erase('two')).status).to.equal(200);
    const written = await ingest();
    expect(written.status, written.text).to.equal(200);
    const { body: listed } = await server.call('/api/contacts/erasures', organization);
    for (const { completed_at } of listed.erasures as { completed_at: unknown }[])
      expect(completed_at).to.be.a('string');
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  });
});
