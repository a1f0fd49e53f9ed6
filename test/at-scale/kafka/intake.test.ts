import { Readable } from 'node:stream';
import { expect } from 'chai';
import { ingestText } from '../../../ingest/pipeline.js';
import { Publisher } from '../../../ingest/publisher.js';
import { STREAMS } from '../../../ingest/streams/index.js';
import type { IngestStores } from '../../../ingest/streams/stream.js';
import { createLogger } from '../../../services/shared/logger.js';
import { acceptanceClock, ONLY_SLOT } from '../../../services/shared/record-order.js';
import { freePort } from '../../stack/free-port.js';
import { afterFile } from '../../support/opened.js';
import { prepareOrganization, type ServerProcess, startServer } from '../../support/server-process.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { startHttpProxy } from '../elasticsearch/http-proxy.js';
import { openStore, testIndices } from '../elasticsearch/support.js';
import { type TestTopics, testTopics } from './topics.js';

const ORGANIZATION = 'org_intake';

describe('Intake into Kafka', function () {
  this.timeout(120_000);
  let topics: TestTopics;
  let server: ServerProcess;

  async function start(environment: Record<string, string>): Promise<void> {
    const folder = tempFolder();
    const key = await prepareOrganization(folder, ORGANIZATION);
    const embedded = { ELASTICSEARCH_URL: '', CLICKHOUSE_URL: '' };
    server = await startServer({ dataDir: folder, key, environment: { ...embedded, ...environment } });
  }
  afterEach(() => server?.stop());

  const contact = async (id: string) =>
    server.call('/api/contacts/get', { organization_id: ORGANIZATION, contact_id: id });

  it('sends records to topics, and a server with embedded stores writes them itself', async () => {
    topics = await testTopics();
    await start(topics.environment);
    const cities = Array.from({ length: 60 }, (_, index) => `City ${index}`);
    const answers = [];
    for (const city of cities) answers.push(await server.ingest('contacts', [{ contact_id: 'c', city }]));
    for (const { status, body } of answers) {
      expect(status).to.equal(200);
      expect(body).to.include({ accepted: 1, rejected: 0 });
    }
    const rejected = await server.ingest('contacts', [{ contact_id: 'd', citty: 'Rome' }]);
    expect(rejected.body).to.include({ accepted: 0, rejected: 1 });
    await topics.drained('contacts');
    expect((await contact('c')).body).to.have.nested.property('contact.city', cities.at(-1));
    expect((await contact('d')).status).to.equal(404);
    // The copy for SQL starts the engine with the first contact.
    const status = async () => (await server.call('/api/status', {})).body;
    const stores = async () => (await status()).stores as { analytics: string };
    await until(async () => (await stores()).analytics === 'ok', 'the engine has started');
    const known = await status();
    expect(known.stores).to.deep.equal({ records: 'ok', analytics: 'ok', intake: 'ok' });
    expect(known).to.deep.nested.include({ 'streams.contacts.records': 1, 'streams.contacts.lag': 0 });
    const metrics = await server.call('/metrics', undefined, { method: 'GET' });
    expect(metrics.text).to.contain(
      `reachline_worker_records_total{stream="contacts",outcome="applied"} ${cities.length}`,
    );
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    expect(server.output()).not.to.match(/worker ended|"level":"(error|fatal)"/);
  });

  it('undoes an import whose records went through topics, and leaves what was changed', async () => {
    topics = await testTopics();
    await start(topics.environment);
    const contacts = ['new', 'edited'].map((id) => ({ contact_id: id, work_emails: [`${id}@acme.example`] }));
    await server.ingest('contacts', [{ contact_id: 'old', work_emails: ['old@acme.example'] }]);
    await topics.drained('contacts');
    const load = async (records: readonly object[]) => {
      const path = '/api/ingest/contacts?import_id=webinar&on_duplicate=update';
      const raw = records.map((record) => JSON.stringify(record)).join('\n');
      const headers = { 'Content-Type': 'application/x-ndjson' };
      return (await server.call(path, undefined, { raw, headers })).body;
    };
    const known = { contact_id: 'crm-7', work_emails: ['old@acme.example'], city: 'Oslo' };
    expect(await load([...contacts, known, { citty: 'Rome' }])).to.include({
      ...{ accepted: 3, created: 2, updated: 0, matched: 1, rejected: 1 },
    });
    await topics.drained('contacts');
    expect((await contact('old')).body).to.nested.include({
      'contact.city': 'Oslo',
      'contact.data_import_id': null,
    });
    const ask = async (path: string, body: object) =>
      (await server.call(path, { organization_id: ORGANIZATION, ...body })).body;
    await ask('/api/contacts/update', { contact_id: 'edited', city: 'Rome' });
    // Undoing before the worker has stored the last record leaves that record to the next undo.
    await load([{ contact_id: 'late' }]);
    const counts = { deleted: 0, left: 0 };
    for (const round of ['early', 'late']) {
      if (round === 'late') await topics.drained('contacts');
      const { deleted_count, left_count } = await ask('/api/imports/undo', { import_id: 'webinar' });
      counts.deleted += Number(deleted_count);
      counts.left = Number(left_count);
    }
    expect(counts).to.deep.equal({ deleted: 2, left: 1 });
    const { contacts: left } = await ask('/api/contacts/search', { limit: 10 });
    expect((left as { contact_id: string }[]).map(({ contact_id }) => contact_id)).to.have.members([
      'edited',
      'old',
    ]);
  });

  it('is acknowledged while the records store is unavailable, since the topic has the records', async () => {
    topics = await testTopics();
    const proxy = await startHttpProxy(testIndices().config);
    const records = await openStore(proxy.config);
    const publisher = new Publisher(topics.config, createLogger('silent'));
    afterFile(() => publisher.close());
    proxy.decide = () => 'cut';
    const result = await ingestText({
      stream: publisher.toKafka(STREAMS.contacts),
      stores: { records } as unknown as IngestStores,
      source: Readable.from([Buffer.from('{"contact_id":"c"}')]),
      format: 'ndjson',
      organizationId: ORGANIZATION,
      acceptance: await acceptanceClock(ONLY_SLOT)(),
    });
    expect(result).to.deep.equal({
      accepted: 1,
      rejected: 0,
      skipped: 0,
      rounded: 0,
      suppressed: 0,
      stale: 0,
      invalid_domains: 0,
      invalid_values: 0,
      errors: [],
    });
    expect(await topics.behind('contacts')).to.equal(1);
    expect(await publisher.lag()).to.include({ contacts: 1, audiences: 0 });
  });

  it('is rejected while the brokers are unavailable, and everything else continues', async () => {
    await start({ KAFKA_BROKERS: `127.0.0.1:${await freePort()}` });
    const intake = await server.ingest('contacts', [{ contact_id: 'c', city: 'Rome' }]);
    expect(intake.status, intake.text).to.equal(503);
    expect(intake.body).to.include({ code: 'store_unavailable' });
    expect(intake.text).not.to.match(/kafka|broker|ECONN/i);
    expect((await contact('c')).status).to.equal(404);
    const readiness = await server.call('/readyz', undefined, { method: 'GET' });
    expect(readiness.status).to.equal(200);
    expect(readiness.body.stores).to.deep.equal({ records: 'ok', analytics: 'ok', intake: 'unavailable' });
    const { status, body } = await server.call('/api/status', {});
    expect(status).to.equal(200);
    expect(body.stores).to.deep.equal(readiness.body.stores);
    expect(body).to.deep.nested.include({ 'streams.contacts.records': 0, 'streams.contacts.lag': null });
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    expect(server.output()).not.to.contain('worker ended');
  });
});
