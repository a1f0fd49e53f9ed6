import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '../support/gateway.js';
import { until } from '../support/until.js';
import { run, serve, takenPort } from './support.js';

describe('reachline serve', function () {
  this.timeout(120_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Record<string, string>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    env = { REACHLINE_DATA_DIR: join(folder.path, 'data') };
  });
  afterEach(() => folder.remove());

  it('answers until it gets a signal, and lets no second server onto its folder', async () => {
    const served = await serve([], { env });
    expect((await fetch(`${served.url}/readyz`)).status).to.equal(200);
    const second = await run(['serve', '--port', '0'], { env });
    expect(second.code).to.equal(1);
    expect(second.stderr).to.match(/in use by another Reachline process/);
    expect(second.stderr.trim().split('\n').length).to.equal(1);
    const port = new URL(served.url).port;
    const doctor = await run(['doctor'], { env: { ...env, PORT: port } });
    expect(doctor).to.include({ code: 0 });
    expect(doctor.stdout).to.contain(`the server at ${served.url}, which is ready`);
    expect(await served.stop()).to.equal(0);
    const next = await serve([], { env });
    expect(await next.stop('SIGINT')).to.equal(0);
  });

  it('says in an empty folder how to get a key and data, and no longer once there is a key', async () => {
    const first = await serve([], { env });
    await until(() => first.output().includes('--demo'), 'the server hints at sample data');
    expect(first.output()).to.match(
      /no API key yet.*keys create --organization.*\n.*no records yet.*ingest contacts/,
    );
    const create = ['keys', 'create', '--organization', 'org_a'];
    expect(await run(create, { env })).to.include({ code: 0 });
    await first.stop();
    const second = await serve([], { env });
    await second.stop();
    expect(second.output()).to.not.contain('yet');
  });

  it('says in a line that its port is taken', async () => {
    const { port, release } = await takenPort();
    const { code, stderr } = await run(['serve', '--port', String(port)], { env });
    await release();
    expect(code).to.equal(1);
    expect(stderr).to.match(new RegExp(`^Port ${port} is in use.*\\n$`));
  });

  it('opens a port for SQL only with a port and a password', async () => {
    const { port, release } = await takenPort();
    const sql = { ...env, REACHLINE_SQL_PORT: String(port), REACHLINE_SQL_PASSWORD: 'open sesame' };
    const taken = await run(['serve', '--port', '0'], { env: sql });
    expect(taken).to.include({ code: 1 });
    expect(taken.stderr).to.equal(`Port ${port} is in use. Choose another with REACHLINE_SQL_PORT.\n`);
    await release();
    for (const [name, value] of [
      ['REACHLINE_SQL_PORT', String(port)],
      ['REACHLINE_SQL_PASSWORD', 'x'],
    ] as const) {
      const rejected = await run(['serve', '--port', '0'], { env: { ...env, [name]: value } });
      expect(rejected.stderr).to.match(/^REACHLINE_SQL_PORT and REACHLINE_SQL_PASSWORD go together/);
    }
    const ask = (password: string) =>
      fetch(`http://127.0.0.1:${port}/?query=SELECT+count()+FROM+campaigns`, {
        headers: { 'X-ClickHouse-Key': password },
      });
    const without = await serve([], { env });
    expect(without.output()).not.to.contain('SQL');
    expect(await ask('open sesame').catch((error: Error) => error.name)).to.equal('TypeError');
    await without.stop();
    const served = await serve([], { env: sql });
    expect(served.output()).to.contain(`http://127.0.0.1:${port} `);
    expect(await (await ask('open sesame')).text()).to.equal('0\n');
    expect((await ask('wrong')).headers.get('x-clickhouse-exception-code')).to.equal('516');
    expect(await served.stop()).to.equal(0);
  });

  it('loads no sample where another organization has data', async () => {
    const records: [stream: string, record: object][] = [
      ['website-visits', { id: 'v1', createdAt: '2026-08-01T00:00:00Z' }],
      ['network-a-campaigns', { id: 'k1' }],
    ];
    for (const [stream, record] of records) {
      const own = { ...env, REACHLINE_DATA_DIR: join(folder.path, stream) };
      const file = join(folder.path, `${stream}.ndjson`);
      await writeFile(file, JSON.stringify(record));
      const args = ['ingest', stream, file, '--organization', 'org_mine'];
      expect(await run(args, { env: own })).to.include({ code: 0 });
      const served = await serve(['--demo'], { env: own });
      expect(served.output(), stream).to.contain('Nothing was loaded');
      await served.stop();
      expect((await run(['credits', 'show', '--organization', 'org_demo'], { env: own })).stdout).to.equal(
        'unmetered\n',
      );
    }
  });
});
