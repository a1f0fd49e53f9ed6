import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { run, serve } from './support.js';

describe('reachline serve', function () {
  this.timeout(120_000);
  let folder: string;
  let env: Record<string, string>;
  beforeEach(() => {
    folder = tempFolder();
    env = { REACHLINE_DATA_DIR: join(folder, 'data') };
  });

  it('says in an empty folder how to get a key and data, answers until it gets a signal, and shares its folder with no other', async () => {
    const served = await serve([], { env });
    await until(() => served.output().includes('--demo'), 'the server hints at sample data');
    expect(served.output()).to.match(
      /no API key yet.*keys create --organization.*\n.*no records yet.*ingest contacts/,
    );
    expect(served.output()).not.to.contain('SQL');
    expect((await fetch(`${served.url}/readyz`)).status).to.equal(200);
    const second = await run(['serve', '--port', '0'], { env });
    expect(second.code).to.equal(1);
    expect(second.stderr).to.match(/^.*in use by another Reachline process.*--url.*\n$/);
    expect(second.stderr).to.contain(env.REACHLINE_DATA_DIR).and.contain(String(served.pid));
    const create = ['keys', 'create', '--organization', 'org_a'];
    expect(await run(create, { env })).to.include({ code: 0 });
    expect(await served.stop()).to.include({ code: 0 });
    const next = await serve([], { env });
    next.signal('SIGINT');
    expect(await next.ended).to.include({ code: 0 });
    expect(next.output()).to.not.contain('yet');
  });

  it('opens a port for SQL to API keys, and says in a line that a port is taken or an address is of another machine', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sql = { ...env, REACHLINE_SQL_PORT: String(port) };
    const taken = await run(['serve', '--port', '0'], { env: sql });
    const setting = `Port ${port} is in use. Choose another with REACHLINE_SQL_PORT.\n`;
    expect(taken).to.include({ code: 1, stderr: setting });
    const own = await run(['serve', '--port', String(port)], { env });
    expect(own.code).to.equal(1);
    expect(own.stderr).to.match(new RegExp(`^Port ${port} is in use.*\\n$`));
    server.close();
    const away = await run(['serve', '--port', '0'], { env: { ...env, HOST: '203.0.113.7' } });
    expect(away.code).to.equal(1);
    expect(away.stderr).to.match(/^.*HOST=203\.0\.113\.7.*\n$/);
    const ask = (password: string) =>
      fetch(`http://127.0.0.1:${port}/?query=SELECT+count()+FROM+campaigns`, {
        headers: { 'X-ClickHouse-Key': password },
      });
    const served = await serve([], { env: sql });
    await until(() => served.output().includes(`http://127.0.0.1:${port} `), 'the server names the port');
    const key = (await run(['keys', 'create', '--organization', 'org_a'], { env })).stdout.trim();
    expect(await (await ask(key)).text()).to.equal('0\n');
    expect((await ask('wrong')).headers.get('x-clickhouse-exception-code')).to.equal('516');
    expect(await served.stop()).to.include({ code: 0 });
  });

  it('looks whether its port is free before it loads the sample', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const taken = await run(['serve', '--demo', '--port', String(port)], { env });
    server.close();
    expect(taken.code).to.equal(1);
    expect(taken.stderr).to.match(new RegExp(`^Port ${port} is in use.*\\n$`));
    expect(existsSync(join(folder, 'data'))).to.equal(false);
  });

  it('prints a link that signs in, and a key that the next command uses, at every start with the sample, and ends the key of the start before', async () => {
    let previous: string | undefined;
    for (const isLoaded of [false, true]) {
      const served = await serve(['--demo'], { env });
      await until(() => served.output().includes('network_a/campaigns'), 'the server prints requests');
      const output = served.output();
      expect(output.includes('Loading sample data')).to.equal(!isLoaded);
      const [, key = '', query = ''] =
        /\/console#key=(\S+)[\s\S]*\nexport KEY=\1\n\n(curl .*)\n/.exec(output) ?? [];
      const { body } = await served.call('/api/key', undefined, { method: 'GET', key });
      expect(body).to.include({ organization_id: 'org_demo' });
      if (previous !== undefined) {
        const ended = await served.call('/api/key', undefined, { method: 'GET', key: previous });
        expect(ended.status).to.equal(401);
      }
      previous = key;
      const { stdout } = spawnSync('bash', ['-c', query], {
        encoding: 'utf8',
        env: { ...process.env, KEY: key },
      });
      expect((JSON.parse(stdout) as { contacts: object[] }).contacts).to.have.length(3);
      await served.stop();
    }
  });

  it('writes commands as they can be typed where they are read', async () => {
    const create = 'keys create --organization org_acme';
    const inFolder = async (cwd: string, PATH: string) => {
      const served = await startServer({ args: ['serve'], cwd, environment: { ...env, PATH } });
      await until(() => served.output().includes('--demo'), 'the server says how to begin');
      await served.stop();
      return served.output();
    };
    const { PATH = '' } = process.env;
    expect(await inFolder(packageRoot, PATH)).to.contain(`: ./reachline ${create}`);
    expect(await inFolder(folder, PATH)).to.contain(`: ${packageRoot}/reachline ${create}`);
    await symlink(join(packageRoot, 'reachline'), join(folder, 'reachline'));
    expect(await inFolder(packageRoot, `${PATH}:${folder}`)).to.contain(`: reachline ${create}`);
  });

  it('loads no sample where another organization has data', async () => {
    const file = join(folder, 'campaigns.ndjson');
    await writeFile(file, '{"id":"k1"}');
    const args = ['ingest', 'network-a-campaigns', file, '--organization', 'org_mine'];
    expect(await run(args, { env })).to.include({ code: 0 });
    const served = await serve(['--demo'], { env });
    await until(() => served.output().includes('was not loaded'), 'the server says so');
    await served.stop();
    const credits = await run(['credits', 'show', '--organization', 'org_demo'], { env });
    expect(credits.stdout).to.equal('unmetered\n');
  });
});
