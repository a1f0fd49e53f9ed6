import { expect } from 'chai';
import { Publisher } from '../../../ingest/publisher.js';
import { STREAM_NAMES } from '../../../ingest/streams/index.js';
import { createLogger } from '../../../services/shared/logger.js';
import { freePort } from '../../stack/free-port.js';
import { prepareOrganization, type ServerProcess, startServer } from '../../support/server-process.js';
import { tempFolder } from '../../support/temp-folder.js';
import { type TestTopics, testTopics } from './topics.js';

const ORGANIZATION = 'org_status';

describe('The status with Kafka', function () {
  this.timeout(120_000);
  let folder: string;
  let topics: TestTopics | undefined;
  let server: ServerProcess | undefined;

  async function start(environment: Record<string, string>): Promise<ServerProcess> {
    folder = tempFolder();
    const key = await prepareOrganization(folder, ORGANIZATION);
    const embedded = { ELASTICSEARCH_URL: '', CLICKHOUSE_URL: '' };
    server = await startServer({ dataDir: folder, key, environment: { ...embedded, ...environment } });
    return server;
  }
  afterEach(async () => {
    await server?.stop();
    await topics?.close();
    [server, topics] = [undefined, undefined];
  });

  it('counts the records that no worker has committed, and none of topics that do not exist', async () => {
    topics = await testTopics({ partitions: 3 });
    const records = Array.from({ length: 25 }, (_, index) => ({ key: `k${index}`, value: '{}' }));
    await topics.produce('contacts', records);
    const publisher = new Publisher(topics.config, createLogger('silent'));
    const newcomer = new Publisher({ ...topics.config, topicPrefix: 'absent.' }, createLogger('silent'));
    try {
      const none = Object.fromEntries(STREAM_NAMES.map((name) => [name, 0]));
      expect(await publisher.lag()).to.deep.equal({ ...none, contacts: 25 });
      expect(await newcomer.lag()).to.deep.equal(none);
    } finally {
      await publisher.close();
      await newcomer.close();
    }
  });

  it('has no lag once the worker has stored the accepted records', async () => {
    topics = await testTopics();
    const { call, ingest } = await start(topics.environment);
    await ingest('contacts', [{ contact_id: 'c' }]);
    await topics.drained('contacts');
    const { status, body } = await call('/api/status', {});
    expect(status).to.equal(200);
    expect(body.stores).to.deep.equal({ search: 'ok', analytics: 'ok', intake: 'ok' });
    expect(body).to.have.nested.property('streams.contacts.records', 1);
    expect(body).to.have.nested.property('streams.contacts.lag', 0);
  });

  it('has a null lag and answers 200 within 4 s while the brokers are unavailable', async () => {
    const { call } = await start({ KAFKA_BROKERS: `127.0.0.1:${await freePort()}` });
    const startedAt = performance.now();
    const { status, body } = await call('/api/status', {});
    expect(performance.now() - startedAt).to.be.below(4000);
    expect(status).to.equal(200);
    expect(body.stores).to.deep.equal({ search: 'ok', analytics: 'ok', intake: 'unavailable' });
    expect(body).to.have.nested.property('streams.contacts.lag', null);
    expect(body).to.have.nested.property('streams.contacts.records', 0);
  });
});
