import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ClickHouseServer, startClickHouseServer } from '../support/clickhouse-server.js';
import { ask } from '../support/endless-statement.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

describe('a statement that the engine cannot end, in an endpoint that runs one at a time', function () {
  this.timeout(60_000);
  let server: ClickHouseServer;
  let pipes: string[];
  let folder: string;
  beforeEach(async () => {
    pipes = [];
    folder = tempFolder();
    server = await startClickHouseServer(folder, { deadlineMs: 500 });
  });
  afterEach(async () => {
    // A statement ends once its pipe was opened for writing and closed; one that was killed in time never opens it. `r+` waits for no reader.
    const release = () => pipes.forEach((pipe) => void closeSync(openSync(pipe, 'r+')));
    const releasing = setInterval(release, 20);
    await server.close().finally(() => clearInterval(releasing));
  });

  /** Reads a pipe that nobody writes, which the engine waits for whatever its time limit and `KILL QUERY` say. */
  const endless = () => {
    const pipe = join(folder, `pipe${pipes.length}`);
    execFileSync('mkfifo', [pipe]);
    pipes.push(pipe);
    return `SELECT * FROM file('${pipe}', 'TSV', 'x String')`;
  };

  it('is answered 503 at the deadline, and the next one runs', async () => {
    const [status, code, text] = await ask(server.url, endless());
    expect([status, code]).to.deep.equal([503, '209']);
    expect(text).to.include('did not end within 0.5 s');
    expect(await ask(server.url, 'SELECT 1')).to.deep.equal([200, null, '1\n']);
  });

  it('lets the next one run after its client has left', async () => {
    const leaving = new AbortController();
    const left = fetch(server.url, { method: 'POST', body: endless(), signal: leaving.signal });
    await until(() => server.started() === 1, 'the statement has started');
    leaving.abort();
    await left.catch(() => undefined);
    expect(await ask(server.url, 'SELECT 1')).to.deep.equal([200, null, '1\n']);
  });

  it('runs at most twice past its deadline, so that the API keeps threads', async () => {
    await ask(server.url, endless());
    await ask(server.url, endless());
    const [status, , text] = await ask(server.url, 'SELECT 1');
    expect(status).to.equal(503);
    expect(text).to.include('still running');
  });
});
