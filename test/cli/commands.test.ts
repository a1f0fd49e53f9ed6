import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Command } from 'commander';
import { parseKey } from '../../services/accounts/keys.js';
import { createProgram } from '../../services/cli/program.js';
import { freePort } from '../stack/free-port.js';
import type { ServerProcess } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { run, runProcess, serve } from './support.js';

/** The words of each command, except `help` and similar. */
function commandsOf({ commands }: Command): string[][] {
  return commands.flatMap((command) => [
    [command.name()],
    ...commandsOf(command).map((words) => [command.name(), ...words]),
  ]);
}

const dataUrl = (module: string) => `data:text/javascript,${encodeURIComponent(module)}`;

describe('The command line', function () {
  this.timeout(60_000);
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    folder = tempFolder();
    env = { REACHLINE_DATA_DIR: join(folder, 'data') };
  });

  it('has help with an example for every command, a version and the OpenAPI document', async () => {
    const { stdin, stdout: out, stderr } = process;
    const program = createProgram({ stdin, stdout: out, stderr, env: {} }, () => undefined);
    for (const command of [[], ...commandsOf(program)]) {
      const { code, stdout } = await run([...command, '--help']);
      expect(code, command.join(' ')).to.equal(0);
      expect(stdout, command.join(' ')).to.match(/\nExamples?:\n(.*\n)* {2}.*reachline /);
    }
    expect((await runProcess(['--version'])).stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    expect(JSON.parse((await run(['openapi'])).stdout)).to.include({ openapi: '3.1.0' });
  });

  it('says which brokers do not answer', async () => {
    const brokers = `127.0.0.1:${await freePort()}`;
    const { code, stderr } = await run(['dead-letters', 'list'], { env: { ...env, KAFKA_BROKERS: brokers } });
    expect(code).to.equal(1);
    expect(stderr).to.contain(`Kafka does not answer at ${brokers}`).and.not.contain('ECONNREFUSED');
  });

  it('loads no schemas for help, keys and credits', async () => {
    const loaded = join(folder, 'loaded');
    const hook = `import { appendFileSync } from 'node:fs';
      export function load(url, context, next) { appendFileSync(${JSON.stringify(loaded)}, url + '\\n'); return next(url, context); }`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hook))});`;
    const recording = { ...env, NODE_OPTIONS: `--import=${dataUrl(register)}` };
    for (const args of [['--help'], ['keys', 'list'], ['credits', 'show', '--organization', 'org_a']]) {
      expect(await runProcess(args, { env: recording }), args.join(' ')).to.include({ code: 0 });
    }
    const urls = (await readFile(loaded, 'utf8')).split('\n');
    const maps = urls
      .map((url) => url.replace(/^file:\/\/(.*\/dist\/bundled\/.*)/, '$1.map'))
      .filter(existsSync);
    const bundled = maps.flatMap((map) => JSON.parse(readFileSync(map, 'utf8')).sources);
    expect([...urls, ...bundled].join('\n'))
      .to.contain('services/cli/commands/keys.ts')
      .and.contain('node_modules/commander/')
      .and.not.match(/node_modules\/(ajv|kafkajs|koa)\/|\/schema\.ts/);
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
    const args = ['ingest', 'contacts', join(folder, 'missing.ndjson')];
    const quiet = await run(args, { env });
    expect(quiet).to.include({ code: 1, stderr: `${join(folder, 'missing.ndjson')} does not exist.\n` });
    const loud = await run(args, { env: { ...env, REACHLINE_LOG_LEVEL: 'debug' } });
    expect(loud.stderr).to.match(/\n\s+at /);
  });

  it('prints a new key alone, lists keys without their secrets, and revokes them', async () => {
    const create = [
      'keys',
      'create',
      '--organization',
      'org_r',
      '--name',
      'loader',
      '--scopes',
      'contacts:read',
    ];
    const { stdout } = await run([...create, '--expires', '2999-01-01T00:00:00+02:00'], { env });
    expect(stdout).to.match(/^rl_live_\w+\n$/);
    const key = stdout.trim();
    const { id = '' } = parseKey(key) ?? {};
    const list = async (...args: string[]) => (await run(['keys', 'list', ...args], { env })).stdout;
    expect(await list('--organization', 'org_r')).to.match(new RegExp(`${id} +org_r +active .*2998-12-31`));
    const json = await list('--organization', 'org_r', '--json');
    expect(JSON.parse(json)).to.deep.include({
      ...{ id, organization_id: 'org_r', name: 'loader', state: 'active', scopes: ['contacts:read'] },
      last_used_at: null,
    });
    expect(await list('--organization', 'org_k')).to.not.contain('org_r');
    const whole = await run(['keys', 'revoke', key], { env });
    expect(whole).to.include({ code: 0 });
    expect(whole.stderr).to.match(new RegExp(`Only the id ${id} is needed`));
    for (const text of [json, await list(), whole.stderr])
      expect(text)
        .to.not.contain(key.slice(17))
        .and.not.match(/hash|secret/);
    expect((await run(['keys', 'revoke', id], { env })).stderr).to.equal(`The key ${id} is revoked.\n`);
    expect(await list()).to.match(new RegExp(`${id} +org_r +revoked`));
    expect(await run(['keys', 'revoke', 'nobody00'], { env })).to.include({ code: 1 });
  });

  it('sets, grants and shows credits', async () => {
    const credits = (command: string, ...amount: string[]) =>
      run(['credits', command, '--organization', 'org_c', ...amount], { env });
    const granted = await credits('grant', '5');
    expect(granted).to.include({ code: 1, stdout: '' });
    expect(granted.stderr).to.contain('reachline credits set --organization org_c');
    for (const [command, amount, shown] of [
      ['show', [], 'unmetered\n'],
      ['set', ['40'], '40\n'],
      ['grant', ['2'], '42\n'],
      ['show', [], '42\n'],
      ['set', ['0'], '0\n'],
    ] as const)
      expect((await credits(command, ...amount)).stdout, `${command} ${amount}`).to.equal(shown);
  });

  it('makes audiences, prints their id, and lists them, newest first', async () => {
    const audiences = (command: string, ...args: string[]) =>
      run(['audiences', command, '--organization', 'org_l', ...args], { env });
    const trial = await audiences('create', '--name', 'Trial', '--id', 'aud_trial');
    expect(trial).to.include({ code: 0, stdout: 'aud_trial\n' });
    const again = await audiences('create', '--name', 'Other', '--id', 'aud_trial');
    expect(again).to.include({ code: 1, stdout: '' });
    expect(again.stderr).to.equal('The organization already has an audience aud_trial.\n');
    const empty = await audiences('create', '--name', '');
    expect(empty).to.include({ code: 2, stdout: '' });
    expect(empty.stderr).to.match(/name is required/);
    const { stdout: made } = await audiences('create', '--name', 'Customers');
    expect(made).to.match(/^aud_\w+\n$/);
    const table = await audiences('list');
    expect(table).to.include({ code: 0, stderr: '' });
    const rows = `${made.trim()} +Customers +-\naud_trial +Trial +-\n`;
    expect(table.stdout).to.match(new RegExp(`^ID +NAME +DESCRIPTION\n${rows}$`));
    const first = await audiences('list', '--json', '--limit', '1');
    const customers = { id: made.trim(), organization_id: 'org_l', name: 'Customers' };
    expect(JSON.parse(first.stdout)).to.include(customers);
    expect(first.stderr).to.equal('1 of 2 audiences; a larger --limit shows more.\n');
  });

  it('migrates empty stores', async () => {
    const own = { REACHLINE_DATA_DIR: join(folder, 'migrated') };
    expect(await run(['migrate'], { env: own })).to.include({
      code: 0,
      stdout: 'The stores are up to date.\n',
    });
  });

  it('has a doctor who finds nothing wrong, and makes no folder by looking', async () => {
    const fresh = { REACHLINE_DATA_DIR: join(folder, 'fresh'), PORT: '0' };
    const { code, stdout } = await run(['doctor'], { env: fresh });
    expect({ code, stdout }).to.include({ code: 0 });
    expect(stdout)
      .to.match(/^✓ Node/)
      .and.not.contain('✗');
    expect(existsSync(fresh.REACHLINE_DATA_DIR)).to.equal(false);
    expect((await run(['doctor'], { env: { ...env, PORT: '0' } })).stdout).to.match(/✓ The stores open/);
  });

  it('has a doctor who names each thing to fix', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const taken = await run(['doctor'], { env: { ...env, PORT: String(port) } });
    server.close();
    expect(taken.code).to.equal(1);
    expect(taken.stdout).to.match(new RegExp(`✗ Port ${port} .*used by another`));
    const bad = {
      PORT: 'x',
      REACHLINE_LOG_LEVEL: 'loud',
      REACHLINE_SQL_PORT: '8124',
      CLICKHOUSE_URL: 'http://127.0.0.1:1',
      KAFKA_BROKERS: 'kafka',
    };
    const { code, stdout } = await run(['doctor'], { env: bad });
    expect(code).to.equal(1);
    for (const name of [
      'PORT',
      'REACHLINE_LOG_LEVEL',
      'REACHLINE_SQL_PORT is for the embedded engine',
      'KAFKA_BROKERS',
    ])
      expect(stdout).to.match(new RegExp(`^✗ ${name}`, 'm'));
    expect(stdout).to.contain('4 problems');
  });

  it('has a doctor who knows which server has the data folder', async () => {
    const [mine, theirs] = ['mine', 'theirs'].map((name) => ({
      REACHLINE_DATA_DIR: join(folder, name),
    }));
    const [own, other] = await Promise.all([serve([], { env: mine }), serve([], { env: theirs })]);
    const doctor = async (dataDir: Record<string, string> | undefined, served: ServerProcess) =>
      run(['doctor'], { env: { ...dataDir, PORT: new URL(served.url).port } });
    try {
      const healthy = await doctor(mine, own);
      expect(healthy.code, healthy.stdout).to.equal(0);
      expect(healthy.stdout).to.contain(
        `The stores of ${mine?.REACHLINE_DATA_DIR} are open in the server at ${own.url}`,
      );
      const held = await doctor(mine, other);
      expect(held.code).to.equal(0);
      expect(held.stdout).to.match(
        new RegExp(`! The Reachline server at ${other.url} uses another data folder than .*/mine:`),
      );
      expect(held.stdout).to.contain(
        `/mine are open in the server at ${own.url}, which is ready\nNothing is broken. 2 lines with ! to look at.\n`,
      );
      const elsewhere = await run(['doctor'], { env: { ...mine, PORT: '0' } });
      expect(elsewhere.stdout).to.contain(`/mine are open in the server at ${own.url}, which is ready`);
      expect(elsewhere.code, elsewhere.stdout).to.equal(0);
      const free = await doctor({ REACHLINE_DATA_DIR: join(folder, 'third') }, other);
      expect(free.code).to.equal(0);
      expect(free.stdout).to.match(/! The Reachline server at .* uses another data folder than .*\/third:/);
    } finally {
      await Promise.all([own.stop(), other.stop()]);
    }
  });

  it('says in a line that the data folder is a file', async () => {
    const file = join(folder, 'not-a-folder');
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
