import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { packageRoot } from '../../services/shared/fs.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const read = (name: string) => readFileSync(join(packageRoot, name), 'utf8');
const SCRIPT = '.ci/release';
const MAKE_ENV = 'deploy/make-env.sh';
const { version, files } = JSON.parse(read('package.json')) as { version: string; files: string[] };

interface Job {
  needs?: string | string[];
  permissions: Record<string, string>;
  steps: { run?: string }[];
}
const { jobs } = parse(read('.github/workflows/release.yml')) as { jobs: Record<string, Job> };
const scriptOf = ({ steps }: Job) => steps.map(({ run = '' }) => run).join('\n');

/** A folder with what the script reads: a copy of what is packed, and a changelog with a section for this version. */
function checkout(): string {
  const folder = join(tempFolder(), 'checkout');
  mkdirSync(join(folder, '.ci'), { recursive: true });
  const packed = new Set([
    'dist',
    'package.json',
    'package-lock.json',
    ...files.map((file) => file.split('/')[0] as string),
  ]);
  for (const name of packed) {
    if (!existsSync(join(packageRoot, name))) continue;
    cpSync(join(packageRoot, name), join(folder, name), { recursive: true, filter: isNotTest });
  }
  cpSync(join(packageRoot, SCRIPT), join(folder, SCRIPT));
  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    `# Changelog\n\n## Unreleased\n\n- later\n\n## ${version}\n\n- notes of it\n\n## 0.0.1\n\n- before\n`,
  );
  return folder;
}

const isNotTest = (path: string) => !/\/dist\/(test|bench)(\/|$)/.test(path);

describe('A release', function () {
  this.timeout(120_000);
  let folder: string;
  let release: string;

  before(() => {
    folder = checkout();
    release = join(folder, 'release');
    execFileSync('bash', [SCRIPT, version, release], {
      cwd: folder,
      env: { ...process.env, GITHUB_REPOSITORY: 'example/reachline' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  });

  it('has packages, the list of dependencies, the notes of its version, and checksums that hold', () => {
    expect(readdirSync(release)).to.have.members([
      `reachline-${version}.tgz`,
      `reachline-client-${version}.tgz`,
      `reachline-${version}.cdx.json`,
      'SHA256SUMS',
      'notes.md',
    ]);
    expect(readFileSync(join(release, 'notes.md'), 'utf8').trim()).to.equal('- notes of it');
    const { bomFormat, components } = JSON.parse(
      readFileSync(join(release, `reachline-${version}.cdx.json`), 'utf8'),
    );
    expect(bomFormat).to.equal('CycloneDX');
    const names = (components as { name: string }[]).map(({ name }) => name);
    expect(names).to.include('koa').and.not.to.include('mocha');
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n');
    expect(sums).to.have.lengthOf(3);
    for (const sum of sums) {
      const [hash, name = ''] = sum.split(/ +/);
      expect(
        createHash('sha256')
          .update(readFileSync(join(release, name)))
          .digest('hex'),
        name,
      ).to.equal(hash);
    }
  });

  it('of another version than that of package.json, or without notes, is refused', () => {
    const run = () =>
      spawnSync('bash', [SCRIPT, '9.9.9', join(folder, 'other')], { cwd: folder, encoding: 'utf8' });
    expect(run()).to.include({ status: 1, stderr: `package.json has the version ${version}, not 9.9.9.\n` });
  });

  it('has a package that serves from an empty folder', async () => {
    const empty = tempFolder();
    execFileSync('tar', ['-xzf', join(release, `reachline-${version}.tgz`), '-C', empty]);
    const installed = join(empty, 'package');
    symlinkSync(join(packageRoot, 'node_modules'), join(installed, 'node_modules'));
    expect(statSync(join(installed, 'dist/services/cli/main.js')).mode & 0o111).not.to.equal(0);
    expect(existsSync(join(installed, 'dist/test'))).to.equal(false);
    const main = join(installed, 'dist/services/cli/main.js');
    const dataDir = join(empty, 'data');
    const env = { PATH: process.env.PATH, REACHLINE_DATA_DIR: dataDir, REACHLINE_LOG_LEVEL: 'error' };
    const made = spawnSync(process.execPath, [main, 'keys', 'create', '--organization', 'org_a'], {
      env,
      encoding: 'utf8',
    });
    expect(made.stdout + made.stderr).to.match(/rl_live_/);
    const server = spawn(process.execPath, [main, 'serve'], {
      env: { ...env, PORT: '0', REACHLINE_SEARCH_PROCESSES: '1' },
    });
    try {
      let output = '';
      for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk));
      const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      await until(() => address() !== undefined, 'the server names its address');
      for (const path of ['/readyz', '/console', '/docs/', '/openapi.json'])
        expect((await fetch(`${address()}${path}`)).status, path).to.equal(200);
    } finally {
      server.kill();
      await once(server, 'exit');
    }
    rmSync(join(installed, 'node_modules'));
  });

  it('has images with every file of the package', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (?:--from=build \/app\/)?(\S+) \S+$/gm)].map(
      ([, path]) => path,
    );
    const needed = files.filter((file) => !file.startsWith('!') && file !== 'reachline');
    expect(needed.filter((file) => !copied.includes(file))).to.deep.equal([]);
  });

  it('is published by a workflow that names files there are', () => {
    const script = Object.values(jobs).map(scriptOf).join('\n');
    for (const target of read('Dockerfile').matchAll(/ AS (full|slim)$/gm))
      expect(script).to.contain(target[1]);
    for (const flag of [
      'linux/amd64,linux/arm64',
      '--sbom=true',
      '--provenance=mode=max',
      'SHA256SUMS',
      'notes.md',
    ])
      expect(script).to.contain(flag);
  });

  it('publishes the client from the built file, with its repository and the licence of the root', () => {
    const [, path = ''] = /npm publish "(\S+)"/.exec(scriptOf(jobs.client as Job)) ?? [];
    // npm reads the path as for `publish`; offline, a repository on GitHub would fail.
    const packed = execFileSync(
      'npm',
      ['pack', path.replace('$VERSION', version), '--dry-run', '--offline', '--json'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    );
    expect(packed).to.contain(`"reachline-client@${version}"`);
    const file = join(release, `reachline-client-${version}.tgz`);
    const text = execFileSync('tar', ['-xOzf', file, 'package/package.json'], { encoding: 'utf8' });
    expect(JSON.parse(text)).to.deep.include({
      license: JSON.parse(read('package.json')).license,
      repository: { type: 'git', url: 'git+https://github.com/example/reachline.git' },
    });
  });

  it('moves the image tag latest last, and runs no install script in a job that can publish', () => {
    const names = Object.keys(jobs);
    const moving = names.filter((name) => scriptOf(jobs[name] as Job).includes(':latest'));
    expect(moving).to.deep.equal(['latest']);
    expect(jobs.latest).to.deep.include({
      needs: ['build', 'release'],
      if: "needs.build.outputs.channel == 'latest'",
    });
    expect(jobs.release?.needs).to.include.members(['images', 'client']);
    const installing = names.filter((name) => /npm (ci|install)/.test(scriptOf(jobs[name] as Job)));
    expect(installing).to.deep.equal(['build']);
    expect(Object.values(jobs.build?.permissions ?? {})).to.deep.equal(['read', 'read']);
    expect(scriptOf(jobs.build as Job))
      .to.contain('--branch main')
      .and.contain('--commit "$GITHUB_SHA" --status success');
  });

  it('is the latest only if no version is higher and it is no pre-release', () => {
    const checkout = tempFolder();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: checkout,
      });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'first');
    for (const tag of ['v0.1.9', 'v0.2.0', 'v0.10.0', 'v1.0.0-rc.1']) git('tag', tag);
    const channel = (name: string) =>
      execFileSync(join(packageRoot, '.ci/channel'), [name], { cwd: checkout, encoding: 'utf8' }).trim();
    expect(['0.1.9', '0.2.0', '0.10.0', '1.0.0-rc.1'].map(channel)).to.deep.equal([
      'previous',
      'previous',
      'latest',
      'next',
    ]);
  });
});

describe('deploy/make-env.sh', () => {
  it('writes .env with four passwords that no other run makes, and leaves an existing one', () => {
    const passwords = [1, 2].flatMap(() => {
      const folder = tempFolder();
      mkdirSync(join(folder, 'deploy'));
      cpSync(join(packageRoot, MAKE_ENV), join(folder, MAKE_ENV));
      cpSync(join(packageRoot, '.env.example'), join(folder, '.env.example'));
      const run = () => spawnSync('sh', [MAKE_ENV], { cwd: folder, encoding: 'utf8' });
      expect(run().status).to.equal(0);
      const written = readFileSync(join(folder, '.env'), 'utf8');
      expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600);
      expect(run().status).to.equal(1);
      expect(readFileSync(join(folder, '.env'), 'utf8')).to.equal(written);
      return [...written.matchAll(/^\w+_PASSWORD=(.*)$/gm)].map(([, password]) => password);
    });
    expect(new Set(passwords)).to.have.lengthOf(8);
    for (const password of passwords) expect(password).to.match(/^[0-9a-f]{48}$/);
  });
});
