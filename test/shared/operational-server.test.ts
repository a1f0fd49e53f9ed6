import { expect } from 'chai';
import { createLogger } from '../../services/shared/logger.js';
import {
  jsonResponse,
  type OperationalServer,
  startOperationalServer,
} from '../../services/shared/operational-server.js';

describe('the operational server', () => {
  let server: OperationalServer;
  before(async () => {
    const routes = {
      '/ok': () => jsonResponse(200, { ok: true }),
      '/fails': () => Promise.reject(new Error('secret')),
    };
    server = await startOperationalServer({ host: '127.0.0.1', port: 0 }, routes, createLogger('silent'));
  });
  after(() => server.close());

  const get = async (path: string) => {
    const response = await fetch(server.url + path);
    return { status: response.status, text: await response.text() };
  };

  it('answers a route whatever the query, and names its routes on any other path', async () => {
    expect(await get('/ok?x=1')).to.deep.equal({ status: 200, text: '{"ok":true}' });
    expect(await get('/other')).to.deep.equal({
      status: 404,
      text: '{"detail":"This port serves /ok, /fails."}',
    });
  });

  it('answers 500 without the reason when a route fails', async () => {
    const { status, text } = await get('/fails');
    expect(status).to.equal(500);
    expect(text).not.to.contain('secret');
  });

  it('rejects with the listen error when the port is in use', async () => {
    const port = Number(new URL(server.url).port);
    const error = await startOperationalServer({ host: '127.0.0.1', port }, {}, createLogger('silent')).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('code', 'EADDRINUSE');
  });
});
