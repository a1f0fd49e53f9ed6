import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageRoot } from '../services/shared/fs.js';
import { temporaryFolder } from './support/gateway.js';

/** Stands for tsc, vite and node: fails while `broken` exists, else notes the main.js in place, and writes one into the folder it is given. */
const COMPILER = `#!/bin/sh
[ -e broken ] && exit 3
cat dist/services/cli/main.js >> seen 2>/dev/null || echo missing >> seen
for last; do :; done
case "$last" in services/console|*.js|--*) ;; *) mkdir -p "$last/services/cli"; cat source > "$last/services/cli/main.js";; esac
`;

describe('The build', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const path = (name: string) => join(folder.path, name);
  const text = (name: string) => readFile(path(name), 'utf8');
  beforeEach(async () => {
    folder = await temporaryFolder();
    await copyFile(join(packageRoot, 'build.mjs'), path('build.mjs'));
    for (const name of ['services', 'ingest', 'test', 'bench', 'bin']) await mkdir(path(name));
    for (const name of ['tsc', 'vite', 'node'])
      await writeFile(path(`bin/${name}`), COMPILER, { mode: 0o755 });
    await writeFile(path('source'), 'one');
  });
  afterEach(() => folder.remove());

  const build = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['build.mjs', ...args], {
      cwd: folder.path,
      env: { PATH: `${path('bin')}${delimiter}${process.env.PATH}` },
    });

  it('keeps the files in place until those that replace them are complete', async () => {
    await build();
    await writeFile(path('source'), 'two');
    await writeFile(path('seen'), '');
    await build();
    expect(await text('seen')).to.equal('one'.repeat(4));
    expect(await text('dist/services/cli/main.js')).to.equal('two');
    expect((await readdir(folder.path)).filter((name) => name.startsWith('dist'))).to.deep.equal(['dist']);
  });

  it('keeps the last files when it fails', async () => {
    await build();
    await writeFile(path('broken'), '');
    expect(await build().catch(({ code }: { code: number }) => code)).to.equal(3);
    expect(await text('dist/services/cli/main.js')).to.equal('one');
  });

  it('does nothing with --if-needed, until a source is newer', async () => {
    await writeFile(path('services/a.ts'), '');
    await build('--if-needed');
    await writeFile(path('seen'), '');
    await build('--if-needed');
    expect(await text('seen')).to.equal('');
    await utimes(path('services/a.ts'), new Date(), new Date(Date.now() + 5000));
    await build('--if-needed');
    expect(await text('seen')).to.equal('one'.repeat(4));
  });
});
