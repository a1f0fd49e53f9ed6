import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Command } from 'commander';
import { parseKey } from '../../services/accounts/keys.js';
import { createProgram } from '../../services/cli/program.js';
import { temporaryFolder } from '../support/gateway.js';
import { run, runProcess, type Served, serve, takenPort } from './support.js';

/** The words of each command, `help` and its like left out. */
function commandsOf({ commands }: Command): string[][] {
  return commands.flatMap((command) => [
    [command.name()],
    ...commandsOf(command).map((words) => [command.name(), ...words]),
  ]);
}

const dataUrl = (module: string) => `data:text/javascript,${encodeURIComponent(module)}`;

describe('The command line', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Record<string, string>;
  before(async () => {
    folder = await temporaryFolder();
    env = { REACHLINE_DATA_DIR: join(folder.path, 'data') };
  });
  after(() => folder.remove());

  it('has help with an example for every command', async () => {
    const { stdin, stdout: out, stderr } = process;
    const program = createProgram({ stdin, stdout: out, stderr, env: {} }, () => undefined);
    for (const command of [[], ...commandsOf(program)]) {
      const { code, stdout } = await run([...command, '--help']);
      expect(code, command.join(' ')).to.equal(0);
      expect(stdout, command.join(' ')).to.match(/\nExamples?:\n(.*\n)* {2}.*reachline /);
    }
  });

  it('says which brokers do not answer', async () => {
    const { port, release } = await takenPort();
    await release();
    const brokers = `127.0.0.1:${port}`;
    const startedAt = performance.now();
    const { code, stderr } = await run(['dead-letters', 'list'], { env: { ...env, KAFKA_BROKERS: brokers } });
    expect(code).to.equal(1);
    expect(performance.now() - startedAt).to.be.lessThan(10_000);
    expect(stderr).to.contain(`Kafka does not answer at ${brokers}`).and.not.contain('ECONNREFUSED');
  });

  it('loads no schemas for help, keys and credits', async () => {
    const loaded = join(folder.path, 'loaded');
    const hook = `import { appendFileSync } from 'node:fs';
      export function load(url, context, next) { appendFileSync(${JSON.stringify(loaded)}, url + '\\n'); return next(url, context); }`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hook))});`;
    const recording = { ...env, NODE_OPTIONS: `--import=${dataUrl(register)}` };
    for (const args of [['--help'], ['keys', 'list'], ['credits', 'show', '--organization', 'org_a']]) {
      expect(await runProcess(args, { env: recording }), args.join(' ')).to.include({ code: 0 });
    }
    expect(await readFile(loaded, 'utf8'))
      .to.contain('services/cli/commands/keys.js')
      .and.not.match(/node_modules\/(ajv|kafkajs|koa)\/|\/schema\.js/);
  });

  it('says its version', async () => {
    expect((await runProcess(['--version'])).stdout).to.match(/^\d+\.\d+\.\d+\n$/);
  });

  const misuse: [args: string[], message: RegExp][] = [
    [[], /Usage: reachline/],
    [['ingst'], /Did you mean ingest\?/],
    [['keys', 'creat'], /Did you mean create\?/],
    [['serve', '--prot', '1'], /Did you mean --port\?/],
    [['serve', '--port', '70000'], /0 to 65535/],
    [['worker'], /Set KAFKA_BROKERS/],
    [['worker', '--streams', 'contact'], /Set KAFKA_BROKERS/],
    [['dead-letters', 'list', '--stream', 'contact'], /Did you mean contacts\?/],
    [['dead-letters', 'list', '--limit', '0'], /at least 1/],
    [['keys', 'create'], /--organization/],
    [['keys', 'create', '--organization', 'a b'], /identifier/],
    [
      ['keys', 'create', '--organization', 'org_a', '--scopes', 'contact:read'],
      /Did you mean contacts:read\?/,
    ],
    [['keys', 'create', '--organization', 'org_a', '--expires', '2999-01-01'], /offset/],
    [['keys', 'create', '--organization', 'org_a', '--expires', '2001-01-01T00:00:00Z'], /passed/],
    [['credits', 'set', '--organization', 'org_a', '1.5'], /whole number/],
    [['credits', 'set', '--organization', 'org_a', '--', '-1'], /whole number/],
    [['credits', 'grant', '--organization', 'org_a'], /amount/],
    [['audiences', 'create', '--organization', 'org_a', '--name', ' '], /name is required/],
    [['ingest', 'contact', 'x.ndjson'], /Did you mean contacts\?/],
    [['ingest', 'contacts', 'x.ndjson', '--format', 'xml'], /ndjson/],
    [['ingest', 'contacts', 'x.ndjson', '--url', 'http://127.0.0.1:1'], /--api-key/],
    [['ingest', 'contacts', 'x.ndjson', '--url', 'ftp://x', '--api-key', 'k'], /base address/],
  ];
  for (const [args, message] of misuse) {
    it(`answers "${args.join(' ')}" with a hint and exit code 2`, async () => {
      const { code, stderr, stdout } = await run(args, { env });
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(message)
        .and.not.match(/\bat .*:\d+:\d+/);
    });
  }

  it('lists every bad setting at once, with exit code 1 and without a stack', async () => {
    const bad = { ...env, PORT: 'x', REACHLINE_RATE_LIMIT: '-1', REACHLINE_SEARCHTHREADS: '9' };
    const { code, stderr } = await run(['keys', 'list'], { env: bad });
    expect(code).to.equal(1);
    expect(stderr).to.match(/PORT.*\n.*REACHLINE_RATE_LIMIT|REACHLINE_SEARCHTHREADS/s);
    for (const name of ['PORT', 'REACHLINE_RATE_LIMIT', 'REACHLINE_SEARCHTHREADS'])
      expect(stderr).to.contain(name);
    expect(stderr.trim().split('\n').length).to.equal(3);
  });

  it('names ignored variables on standard error, and lets the command run', async () => {
    const odd = { ...env, REACHLINE_IMAGE_TAG: '1.2', REACHLINE_PORT: 'tcp://10.96.0.7:8080' };
    const listed = await run(['keys', 'list'], { env: odd });
    expect(listed.code).to.equal(0);
    expect(listed.stderr).to.match(/^Ignored, .*: REACHLINE_IMAGE_TAG, REACHLINE_PORT\n/);
    const checked = await run(['doctor'], { env: { ...odd, PORT: '0' } });
    expect(checked.code).to.equal(0);
    expect(checked.stdout).to.match(/^! Ignored, .*: REACHLINE_IMAGE_TAG, REACHLINE_PORT$/m);
  });

  it('shows a stack only at the log level debug', async () => {
    const args = ['ingest', 'contacts', join(folder.path, 'missing.ndjson')];
    const quiet = await run(args, { env });
    expect(quiet).to.include({ code: 1, stderr: `${join(folder.path, 'missing.ndjson')} does not exist.\n` });
    const loud = await run(args, { env: { ...env, REACHLINE_LOG_LEVEL: 'debug' } });
    expect(loud.stderr).to.match(/\n\s+at /);
  });

  it('prints a new key alone on standard output', async () => {
    const { code, stdout } = await run(['keys', 'create', '--organization', 'org_k', '--name', 'loader'], {
      env,
    });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^rl_live_\w+\n$/);
    expect(parseKey(stdout.trim())).to.not.equal(null);
  });

  it('lists keys without their secrets, and revokes them', async () => {
    const made = ['keys', 'create', '--organization', 'org_r', '--expires', '2999-01-01T00:00:00+02:00'];
    const key = (await run(made, { env })).stdout.trim();
    const id = key.slice(8, 16);
    const listed = await run(['keys', 'list', '--organization', 'org_r'], { env });
    expect(listed.stdout)
      .to.match(new RegExp(`${id} +org_r +active .*2998-12-31`))
      .and.not.contain(key.slice(17));
    expect(listed.stdout).to.not.contain('org_k');
    const whole = await run(['keys', 'revoke', key], { env });
    expect(whole).to.include({ code: 0 });
    expect(whole.stderr)
      .to.match(new RegExp(`Only the id ${id} is needed`))
      .and.not.contain(key.slice(17));
    expect((await run(['keys', 'revoke', id], { env })).stderr).to.equal(`The key ${id} is revoked.\n`);
    expect((await run(['keys', 'list'], { env })).stdout).to.match(new RegExp(`${id} +org_r +revoked`));
    expect(await run(['keys', 'revoke', 'nobody00'], { env })).to.include({ code: 1 });
  });

  it('sets, grants and shows credits', async () => {
    const credits = async (...args: string[]) => (await run(['credits', ...args], { env })).stdout;
    expect(await credits('show', '--organization', 'org_c')).to.equal('unmetered\n');
    const granted = await run(['credits', 'grant', '--organization', 'org_c', '5'], { env });
    expect(granted).to.include({ code: 1, stdout: '' });
    expect(granted.stderr).to.contain('reachline credits set --organization org_c');
    expect(await credits('show', '--organization', 'org_c')).to.equal('unmetered\n');
    expect(await credits('set', '--organization', 'org_c', '40')).to.equal('40\n');
    expect(await credits('grant', '--organization', 'org_c', '2')).to.equal('42\n');
    expect(await credits('show', '--organization', 'org_c')).to.equal('42\n');
    expect(await credits('set', '--organization', 'org_c', '0')).to.equal('0\n');
  });

  it('makes audiences and prints their id', async () => {
    const create = (...args: string[]) =>
      run(['audiences', 'create', '--organization', 'org_a', ...args], { env });
    expect((await create('--name', 'Customers')).stdout).to.match(/^aud_\w+\n$/);
    expect(await create('--name', 'Trial', '--id', 'aud_trial')).to.include({
      code: 0,
      stdout: 'aud_trial\n',
    });
    const again = await create('--name', 'Other', '--id', 'aud_trial');
    expect(again).to.include({ code: 1, stdout: '' });
    expect(again.stderr).to.match(/exists already/);
  });

  it('lists audiences, newest first', async () => {
    for (const [id, name] of [
      ['aud_1', 'First'],
      ['aud_2', 'Second'],
    ] as const) {
      await run(['audiences', 'create', '--organization', 'org_l', '--id', id, '--name', name], { env });
    }
    const list = (...args: string[]) =>
      run(['audiences', 'list', '--organization', 'org_l', ...args], { env });
    const table = await list();
    expect(table).to.include({ code: 0, stderr: '' });
    expect(table.stdout).to.match(/^ID +NAME +DESCRIPTION\naud_2 +Second +-\naud_1 +First +-\n$/);
    const [line = ''] = (await list('--json', '--limit', '1')).stdout.split('\n');
    expect(JSON.parse(line)).to.include({ id: 'aud_2', organization_id: 'org_l', name: 'Second' });
    expect((await list('--limit', '1')).stderr).to.equal('1 of 2 audiences; --limit shows more.\n');
  });

  it('prints keys as JSON without their secrets', async () => {
    const create = [
      'keys',
      'create',
      '--organization',
      'org_j',
      '--scopes',
      'contacts:read',
      '--name',
      'json',
    ];
    const key = (await run(create, { env })).stdout.trim();
    const { stdout } = await run(['keys', 'list', '--organization', 'org_j', '--json'], { env });
    expect(JSON.parse(stdout)).to.deep.include({
      id: key.slice(8, 16),
      organization_id: 'org_j',
      name: 'json',
      state: 'active',
      scopes: ['contacts:read'],
      expires_at: null,
      last_used_at: null,
    });
    expect(stdout).to.not.match(/hash|secret/);
  });

  it('prints the OpenAPI document', async () => {
    const { stdout } = await run(['openapi'], { env });
    expect(JSON.parse(stdout)).to.include({ openapi: '3.1.0' });
  });

  it('migrates empty stores', async () => {
    const { code, stdout } = await run(['migrate'], { env });
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: 'The stores are up to date.\n',
    });
  });

  it('has a doctor who finds nothing wrong, and makes no folder by looking', async () => {
    const fresh = { REACHLINE_DATA_DIR: join(folder.path, 'fresh'), PORT: '0' };
    const { code, stdout } = await run(['doctor'], { env: fresh });
    expect({ code, stdout }).to.include({ code: 0 });
    expect(stdout)
      .to.match(/^✓ Node/)
      .and.not.contain('✗');
    expect(existsSync(fresh.REACHLINE_DATA_DIR)).to.equal(false);
    expect((await run(['doctor'], { env: { ...env, PORT: '0' } })).stdout).to.match(/✓ The stores open/);
  });

  it('has a doctor who names each thing to fix', async () => {
    const taken = await takenPort();
    const file = join(folder.path, 'a-file');
    await writeFile(file, '');
    const port = await run(['doctor'], { env: { ...env, PORT: String(taken.port) } });
    await taken.release();
    expect(port.code).to.equal(1);
    expect(port.stdout).to.match(new RegExp(`✗ Port ${taken.port} .*used by another`));
    const bad = await run(['doctor'], { env: { PORT: 'x', REACHLINE_LOG_LEVEL: 'loud' } });
    expect(bad.code).to.equal(1);
    expect(bad.stdout).to.match(/✗ .*PORT.*\n✗ .*REACHLINE_LOG_LEVEL.*\n2 things/s);
    const kinds = { PORT: 'x', REACHLINE_SQL_PORT: '8124', KAFKA_BROKERS: 'kafka' };
    expect((await run(['doctor'], { env: kinds })).stdout).to.match(
      /✗ PORT .*\n✗ REACHLINE_SQL_PORT and .*\n✗ KAFKA_BROKERS .*\n3 things/,
    );
  });

  it('has a doctor who knows which server has the data folder', async () => {
    const [mine, theirs] = ['mine', 'theirs'].map((name) => ({
      REACHLINE_DATA_DIR: join(folder.path, name),
    }));
    const own = await serve([], { env: mine });
    const other = await serve([], { env: theirs });
    const doctor = async (dataDir: Record<string, string> | undefined, served: Served) =>
      run(['doctor'], { env: { ...dataDir, PORT: new URL(served.url).port } });
    try {
      const healthy = await doctor(mine, own);
      expect(healthy.code, healthy.stdout).to.equal(0);
      expect(healthy.stdout).to.contain(
        `The stores of ${mine?.REACHLINE_DATA_DIR} are open in the server at ${own.url}`,
      );
      const held = await doctor(mine, other);
      expect(held.code).to.equal(1);
      expect(held.stdout).to.match(
        new RegExp(`✗ The Reachline server at ${other.url} does not have .*/mine `),
      );
      expect(held.stdout).to.contain(
        `/mine are open in the server at ${own.url}, which is ready\nOne thing is`,
      );
      const elsewhere = await run(['doctor'], { env: { ...mine, PORT: '0' } });
      expect(elsewhere.stdout).to.contain(`/mine are open in the server at ${own.url}, which is ready`);
      expect(elsewhere.code, elsewhere.stdout).to.equal(0);
      const free = await doctor({ REACHLINE_DATA_DIR: join(folder.path, 'third') }, other);
      expect(free.code).to.equal(1);
      expect(free.stdout).to.match(/✗ The Reachline server at .* does not have .*\/third but another/);
    } finally {
      await Promise.all([own.stop(), other.stop()]);
    }
  });

  it('says in a line that the data folder cannot be written', async function () {
    // An administrator may write into any folder but the kernel's.
    const locked = process.getuid?.() === 0 ? '/proc' : join(folder.path, 'locked');
    if (locked === '/proc') {
      if (!existsSync(locked)) this.skip();
    } else {
      await mkdir(locked);
      await chmod(locked, 0o500);
    }
    const { code, stderr } = await run(['keys', 'list'], {
      env: { REACHLINE_DATA_DIR: join(locked, 'data') },
    });
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n').length).to.be.at.most(2);
  });

  it('says in a line that the data folder is a file', async () => {
    const file = join(folder.path, 'not-a-folder');
    await writeFile(file, '');
    for (const command of [['keys', 'list'], ['serve', '--port', '0'], ['doctor']]) {
      const runIt = command[0] === 'serve' ? runProcess : run;
      const { code, stdout, stderr } = await runIt(command, { env: { REACHLINE_DATA_DIR: file, PORT: '0' } });
      expect(code, command.join(' ')).to.equal(1);
      expect(stdout + stderr, command.join(' ')).to.contain(file);
      expect(stderr).to.not.match(/\n\s+at /);
    }
  });
});
