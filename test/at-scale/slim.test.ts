import { expect } from 'chai';
import { startServer } from '../support/server-process.js';
import { slim } from '../support/slim.js';
import { testIndices } from './elasticsearch/support.js';

describe('An installation without the embedded stores', () => {
  it('serves from Elasticsearch and ClickHouse, and needs no folder', async () => {
    const indices = testIndices();
    const server = await startServer({
      dataDir: '/proc/nowhere',
      environment: { ...slim, ELASTICSEARCH_INDEX_PREFIX: indices.config.indexPrefix },
    });
    const { status, body } = await server.call('/readyz', null, { method: 'GET' });
    expect(status).to.equal(200);
    expect(body.stores).to.deep.equal({ search: 'ok', analytics: 'ok' });
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    await indices.remove();
  });
});
