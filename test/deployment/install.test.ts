import { execFileSync, spawnSync } from 'node:child_process';
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
      const { status, stderr } = spawnSync('bash', ['-euc', `${stubs}\n${commands}`], {
        encoding: 'utf8',
        // Bash takes a pipe of Node.js for a network connection, and then reads the settings of interactive shells.
        stdio: ['ignore', 'pipe', 'pipe'],
      });
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
    const [, environment = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const named = environment.split(' ').map((each) => each.split('=')[0] as string);
    expect(named).to.include('REACHLINE_DATA_DIR');
    expect(named.filter((name) => name !== 'NODE_ENV' && !settingNames.has(name))).to.deep.equal([]);
  });

  it('has units that systemd takes', function () {
    if (!isInstalled('systemd-analyze', '--version')) this.skip();
    const folder = join(root, 'units');
    mkdirSync(folder);
    const names = readdirSync(join(packageRoot, 'deploy/systemd')).filter((name) =>
      /\.(service|timer)$/.test(name),
    );
    const units = names.map((name) => join(folder, name));
    for (const name of names) {
      const unit = readFileSync(join(packageRoot, 'deploy/systemd', name), 'utf8');
      writeFileSync(join(folder, name), unit.replaceAll('/usr/local/bin/node', process.execPath));
    }
    const args = ['verify', '--man=no', ...units];
    const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes(folder))).to.deep.equal([]);
    expect(status).to.equal(0);
  });

  it('has a file for Caddy that Caddy takes', function () {
    if (!isInstalled('caddy', 'version')) this.skip();
    const config = join(packageRoot, 'deploy/caddy/Caddyfile');
    execFileSync('caddy', ['validate', '--adapter', 'caddyfile', '--config', config], { stdio: 'pipe' });
  });
});
