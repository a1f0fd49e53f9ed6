import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ClickHouseServer, startClickHouseServer } from '../support/clickhouse-server.js';
import { ask } from '../support/endless-statement.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

describe('a statement that the engine cannot end, in an endpoint that runs one at a time', function () {
  this.timeout(60_000);
  let server: ClickHouseServer;
  let folder: string;
  let pipes = 0;
  beforeEach(async () => {
    folder = tempFolder();
    server = await startClickHouseServer(folder, { deadlineMs: 500 });
    await ask(server.url, 'CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n');
    expect((await ask(server.url, 'INSERT INTO kept VALUES (1)'))[0]).to.equal(200);
  });
  afterEach(() => server.close());

  /** Reads a pipe that nobody writes; the engine waits for it despite its time limit and `KILL QUERY`. */
  const endless = () => {
    const pipe = join(folder, `pipe${pipes++}`);
    execFileSync('mkfifo', [pipe]);
    return `SELECT * FROM file('${pipe}', 'TSV', 'x String')`;
  };
  /** The next statement may wait for the engine until its own deadline. */
  const expectNext = () =>
    until(async () => {
      const [status, , text] = await ask(server.url, 'SELECT sum(n) FROM kept');
      expect([200, 503]).to.include(status);
      return text === '1\n';
    }, 'the next statement runs');

  it('is answered 503 and ended with the engine, which starts again for the next one', async () => {
    for (let time = 0; time < 2; time++) {
      const [status, code, text] = await ask(server.url, endless());
      expect([status, code]).to.deep.equal([503, '209']);
      expect(text).to.include('did not end within 0.5 s');
      await expectNext();
    }
  });

  it('lets the next one run after its client has left', async () => {
    const leaving = new AbortController();
    const started = server.started();
    const left = fetch(server.url, { method: 'POST', body: endless(), signal: leaving.signal });
    await until(() => server.started() > started, 'the statement has started');
    leaving.abort();
    await left.catch(() => undefined);
    await expectNext();
  });
});
