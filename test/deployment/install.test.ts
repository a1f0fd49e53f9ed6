import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { settingNames } from '../../services/shared/settings.js';
import { readDoc } from '../docs/support.js';
import { tempFolder } from '../support/temp-folder.js';

const blocks = new Map(
  [...readDoc('docs/operating/install.md').matchAll(/^```sh (\w+)\n([\s\S]*?)^```/gm)].map(
    ([, name, text]) => [name as string, text as string],
  ),
);

const isInstalled = (...command: [string, ...string[]]) =>
  spawnSync(command[0], command.slice(1)).status === 0;

/** Accounts, packages and services of the machine, which a test leaves alone. */
const NOT_RUN = ['useradd', 'apt-get', 'systemctl', 'nginx', 'caddy'];

describe('docs/operating/install.md', () => {
  let root: string;
  const inRoot = (text: string) => text.replaceAll(/(?<=\s|^)(\/(?:etc|srv|opt)\b)/gm, `${root}$1`);

  before(async () => {
    root = tempFolder();
    mkdirSync(join(root, 'opt/reachline'), { recursive: true });
    mkdirSync(join(root, 'srv'));
    mkdirSync(join(root, 'etc/systemd/system'), { recursive: true });
    mkdirSync(join(root, 'etc/nginx/conf.d'), { recursive: true });
    cpSync(join(packageRoot, 'deploy'), join(root, 'opt/reachline/deploy'), { recursive: true });
  });

  for (const name of ['install', 'nginx', 'caddy']) {
    it(`has commands that run: ${name}`, () => {
      const block = blocks.get(name) ?? '';
      const commands = inRoot(block).replaceAll(/ -[og] \w+/g, '');
      const stubs = NOT_RUN.map((command) => `${command}() { :; }`).join('\n');
      const { status, stderr } = spawnSync('bash', ['-euc', `${stubs}\n${commands}`], { encoding: 'utf8' });
      expect(stderr).to.equal('');
      expect(status).to.equal(0);
      const targets = [...block.matchAll(/^install -m \d+ .*\s(\/\S+)$/gm)].map(([, path]) => path as string);
      expect(targets.filter((path) => !existsSync(inRoot(path)))).to.deep.equal([]);
    });
  }

  it('installs data and backups readable by their user only', () => {
    for (const folder of ['srv/reachline', 'srv/reachline-backups'])
      expect(statSync(join(root, folder)).mode & 0o777).to.equal(0o700);
  });

  it('has units that name settings there are', () => {
    const unit = readFileSync(join(packageRoot, 'deploy/systemd/reachline.service'), 'utf8');
    const named = [...(/^Environment=(.*)$/m.exec(unit)?.[1] ?? '').matchAll(/(\w+)=/g)].map(
      ([, name]) => name,
    );
    expect(named).to.include('REACHLINE_DATA_DIR');
    expect(named.filter((name) => name !== 'NODE_ENV' && !settingNames.has(name as string))).to.deep.equal(
      [],
    );
  });

  it('has units that systemd takes', function () {
    if (!isInstalled('systemd-analyze', '--version')) this.skip();
    const folder = join(root, 'units');
    mkdirSync(folder);
    for (const name of readdirSync(join(packageRoot, 'deploy/systemd')).filter(
      (each) => each !== 'journald.conf',
    )) {
      const unit = readFileSync(join(packageRoot, 'deploy/systemd', name), 'utf8');
      writeFileSync(join(folder, name), unit.replaceAll('/usr/local/bin/node', process.execPath));
    }
    const units = readdirSync(folder).map((name) => join(folder, name));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
      encoding: 'utf8',
    });
    expect(stderr.split('\n').filter((line) => line.includes(folder))).to.deep.equal([]);
    expect(status).to.equal(0);
  });

  it('has a file for nginx that nginx takes', function () {
    this.timeout(30_000);
    if (!isInstalled('nginx', '-v') || !isInstalled('openssl', 'version')) this.skip();
    const etc = join(root, 'etc');
    const tls = join(etc, 'reachline/tls');
    mkdirSync(tls, { recursive: true });
    const keys = ['-keyout', join(tls, 'privkey.pem'), '-out', join(tls, 'fullchain.pem')];
    spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=api.acme.example',
      ...keys,
    ]);
    const server = readFileSync(join(etc, 'nginx/conf.d/reachline.conf'), 'utf8')
      .replaceAll('/etc/', `${etc}/`)
      .replaceAll(/listen \d+/g, 'listen 127.0.0.1:0');
    const main = join(etc, 'nginx/nginx.conf');
    writeFileSync(main, `pid ${root}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n${server}\n}\n`);
    const { status, stderr } = spawnSync('nginx', ['-t', '-c', main], { encoding: 'utf8' });
    expect(stderr).to.contain('test is successful');
    expect(status).to.equal(0);
  });

  it('has a file for Caddy that Caddy takes', function () {
    if (!isInstalled('caddy', 'version')) this.skip();
    const config = join(packageRoot, 'deploy/caddy/Caddyfile');
    const { status, stderr } = spawnSync(
      'caddy',
      ['validate', '--adapter', 'caddyfile', '--config', config],
      {
        encoding: 'utf8',
      },
    );
    expect(status, stderr).to.equal(0);
  });
});
