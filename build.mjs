/**
 * Builds dist/ in a folder beside it and renames that into place, so that a server that runs from dist/ never finds files missing.
 * With --if-needed only when a source is newer than the last build: npx runs `prepare` for every first command of a checkout.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const DIST = join(import.meta.dirname, 'dist');
/** Its modification time is the start of the build. */
const MARKER = '.built';
const SOURCES = [
  'docs/reference',
  'services',
  'ingest',
  'test',
  'bench',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'build.mjs',
];

if (
  !process.argv.includes('--if-needed') ||
  modifiedAt(join(DIST, MARKER)) < Math.max(...SOURCES.map(newest))
) {
  build(`${DIST}-${process.pid}`, new Date());
}

function build(folder, startedAt) {
  const previous = `${folder}-previous`;
  try {
    run('tsc', '--outDir', folder);
    run('node', join(folder, 'services/client/declarations/main.js'));
    run('tsc', '-p', 'services/console');
    run('vite', 'build', 'services/console', '--outDir', join(folder, 'console'), '--emptyOutDir');
    chmodSync(join(folder, 'services/cli/main.js'), 0o755);
    writeFileSync(join(folder, MARKER), '');
    utimesSync(join(folder, MARKER), startedAt, startedAt);
    if (existsSync(DIST)) renameSync(DIST, previous);
    renameSync(folder, DIST);
  } catch (error) {
    // A tool that ran has printed why.
    process.exitCode = error.status ?? 1;
    if (typeof error.status !== 'number') console.error(error.message);
  } finally {
    for (const left of [folder, previous]) rmSync(left, { recursive: true, force: true });
  }
}

/** npm puts node_modules/.bin on the PATH. */
function run(command, ...args) {
  const shell = process.platform === 'win32';
  execFileSync(command, args, { cwd: import.meta.dirname, stdio: 'inherit', shell });
}

/** Milliseconds; 0 for a file that does not exist. */
function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The latest modification of a file, or of anything in a folder. */
function newest(path) {
  const file = join(import.meta.dirname, path);
  if (!statSync(file, { throwIfNoEntry: false })?.isDirectory()) return modifiedAt(file);
  return Math.max(modifiedAt(file), ...readdirSync(file).map((name) => newest(join(path, name))));
}
