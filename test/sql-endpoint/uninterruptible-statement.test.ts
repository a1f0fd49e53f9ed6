import { expect } from 'chai';
import { type ClickHouseServer, startClickHouseServer } from '../support/clickhouse-server.js';
import { ask, endless } from '../support/endless-statement.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

describe('a statement that the engine cannot end', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = tempFolder();
  });

  describe('in an endpoint that runs one at a time', () => {
    let server: ClickHouseServer;
    beforeEach(async () => {
      server = await startClickHouseServer(folder, { deadlineMs: 500 });
    });
    afterEach(() => server.close());

    it('is answered 503 at the deadline, and the next one runs', async () => {
      const [status, code, text] = await ask(server.url, endless(2));
      expect([status, code]).to.deep.equal([503, '209']);
      expect(text).to.include('did not end within 0.5 s');
      expect(await ask(server.url, 'SELECT 1')).to.deep.equal([200, null, '1\n']);
    });

    it('lets the next one run after its client has left', async () => {
      const leaving = new AbortController();
      const left = fetch(server.url, { method: 'POST', body: endless(2), signal: leaving.signal });
      await until(() => server.started() === 1, 'the statement has started');
      leaving.abort();
      await left.catch(() => undefined);
      expect(await ask(server.url, 'SELECT 1')).to.deep.equal([200, null, '1\n']);
    });

    it('runs at most twice past its deadline, so that the API keeps threads', async () => {
      await ask(server.url, endless(2));
      await ask(server.url, endless(2));
      const [status, , text] = await ask(server.url, 'SELECT 1');
      expect(status).to.equal(503);
      expect(text).to.include('still running');
    });
  });
});
