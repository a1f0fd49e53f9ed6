import { expect } from 'chai';
import { startServer } from '../support/server-process.js';
import { slim } from '../support/slim.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';
import { testTopics } from './kafka/topics.js';

describe('An installation without the embedded stores', () => {
  it('serves from Elasticsearch and ClickHouse, and needs no folder', async () => {
    const indices = testIndices();
    const server = await startServer({
      dataDir: '/proc/nowhere',
      environment: { ...slim, ELASTICSEARCH_INDEX_PREFIX: indices.config.indexPrefix },
    });
    const { status, body } = await server.call('/readyz', null, { method: 'GET' });
    expect(status).to.equal(200);
    expect(body.stores).to.deep.equal({ records: 'ok', analytics: 'ok' });
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('takes records from Kafka into both, and needs no folder', async () => {
    const topics = await testTopics();
    const indices = testIndices();
    const database = testDatabase();
    const worker = await startServer({
      args: ['worker', '--streams', 'audiences,network-a-companies'],
      dataDir: '/proc/nowhere',
      environment: {
        ...slim,
        ...topics.environment,
        REACHLINE_WORKER_PORT: '0',
        ELASTICSEARCH_INDEX_PREFIX: indices.config.indexPrefix,
        CLICKHOUSE_DATABASE: database.config.database,
      },
    });
    // The worker prints its address before its consumers have joined.
    let answer = await worker.call('/readyz', null, { method: 'GET' });
    while (answer.status !== 200) answer = await worker.call('/readyz', null, { method: 'GET' });
    const { status, body } = answer;
    expect({ status, body }).to.deep.equal({
      status: 200,
      body: {
        ready: true,
        kafka: 'ok',
        records: 'ok',
        analytics: 'ok',
        failing_streams: [],
        stopping: false,
      },
    });
    const record = JSON.stringify({ organization_id: 'org_a', id: 'one', name: 'One' });
    for (const stream of ['audiences', 'network-a-companies'] as const) {
      await topics.produce(stream, [{ key: 'org_a/one', value: record }]);
    }
    await topics.drained('audiences', 'network-a-companies');
    const { text } = await worker.call('/metrics', null, { method: 'GET' });
    for (const stream of ['audiences', 'network-a-companies']) {
      expect(text).to.contain(`reachline_worker_records_total{stream="${stream}",outcome="applied"} 1`);
    }
    expect(await worker.stop()).to.deep.equal({ code: 0, signal: null });
  });
});
