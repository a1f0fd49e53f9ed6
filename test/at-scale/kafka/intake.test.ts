import { expect } from 'chai';
import { freePort } from '../../stack/free-port.js';
import { temporaryFolder } from '../../support/gateway.js';
import { prepareOrganization, type ServerProcess, startServer } from '../../support/server-process.js';
import { type TestTopics, testTopics } from './topics.js';

const ORGANIZATION = 'org_intake';

describe('Intake into Kafka', function () {
  this.timeout(120_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let topics: TestTopics;
  let server: ServerProcess;

  async function start(environment: Record<string, string>): Promise<void> {
    folder = await temporaryFolder();
    const key = await prepareOrganization(folder.path, ORGANIZATION);
    const embedded = { ELASTICSEARCH_URL: '', CLICKHOUSE_URL: '' };
    server = await startServer({ dataDir: folder.path, key, environment: { ...embedded, ...environment } });
  }
  afterEach(async () => {
    await server?.stop();
    await topics?.close();
    await folder?.remove();
  });

  const contact = async (id: string) =>
    server.call('/api/contacts/get', { organization_id: ORGANIZATION, contact_id: id });

  it('puts records into topics, from which a server with embedded stores takes them itself', async () => {
    topics = await testTopics();
    await start(topics.environment);
    const cities = Array.from({ length: 60 }, (_, index) => `City ${index}`);
    const answers = [];
    for (const city of cities) answers.push(await server.ingest('contacts', [{ contact_id: 'c', city }]));
    for (const { status, body } of answers) {
      expect(status).to.equal(200);
      expect(body).to.include({ accepted: 1, rejected: 0 });
    }
    const refused = await server.ingest('contacts', [{ contact_id: 'd', citty: 'Rome' }]);
    expect(refused.body).to.include({ accepted: 0, rejected: 1 });
    await topics.drained('contacts');
    expect((await contact('c')).body).to.have.nested.property('contact.city', cities.at(-1));
    expect((await contact('d')).status).to.equal(404);
    const metrics = await server.call('/metrics', undefined, { method: 'GET' });
    expect(metrics.text).to.contain(
      `reachline_worker_records_total{stream="contacts",outcome="applied"} ${cities.length}`,
    );
  });

  it('is refused while the brokers are away, and everything else goes on', async () => {
    await start({ KAFKA_BROKERS: `127.0.0.1:${await freePort()}` });
    const intake = await server.ingest('contacts', [{ contact_id: 'c', city: 'Rome' }]);
    expect(intake.status, intake.text).to.equal(503);
    expect(intake.body).to.include({ code: 'store_unavailable' });
    expect(intake.text).not.to.match(/kafka|broker|ECONN/i);
    expect((await contact('c')).status).to.equal(404);
    const readiness = await server.call('/readyz', undefined, { method: 'GET' });
    expect(readiness.status).to.equal(200);
    expect(readiness.body.stores).to.deep.equal({ search: 'ok', analytics: 'ok', intake: 'unavailable' });
  });
});
