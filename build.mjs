/**
 * Builds parts of dist/: `node build.mjs [server | tests] [client] [console] [docs] [--if-needed | --watch]`; without names, what
 * serves: all but the tests. Compilation is incremental; with --if-needed, parts that are newer than their sources are left.
 */
import { execFileSync, spawn } from 'node:child_process';
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

const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
const TSC = 'node_modules/@typescript/native/bin/tsc';
const VITE = 'node_modules/vite/bin/vite.js';
const VITEPRESS = 'node_modules/vitepress/bin/vitepress.js';
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'build.mjs'];

const BUNDLES = ['command', 'workers'].map((mode) =>
  `build --config services/vite.config.mjs --mode ${mode}`.split(' '),
);

const compile = (project, roots) => () => {
  run(TSC, '-p', project);
  for (const root of roots) removeStale(root);
};

/** The folder itself changes with each build, for the files that VitePress keeps there meanwhile. */
const SITE_FILES = ['config.ts', 'pages.ts', 'code-theme.ts', 'accessible-search.ts', 'theme'];

/** In the order in which they are built. `tests` holds the server and the benches too. */
const PARTS = {
  server: {
    sources: ['services', 'ingest', 'tsconfig.server.json'],
    build: compile('tsconfig.server.json', ['services', 'ingest']),
  },
  tests: {
    sources: ['services', 'ingest', 'test', 'bench'],
    build: compile('tsconfig.json', ['services', 'ingest', 'test', 'bench']),
  },
  /** What `server` and `tests` start, in a file each. */
  bundles: {
    sources: ['services', 'ingest'],
    build() {
      for (const bundle of BUNDLES) run(VITE, ...bundle, '--logLevel', 'warn');
    },
  },
  /** The declarations of the client, without those of the server. */
  client: {
    sources: ['services', 'ingest'],
    build: () => run(join(DIST, 'services/client/declarations/main.js')),
  },
  console: {
    sources: [
      'services/console',
      'services/client',
      'services/advertising/metrics.ts',
      'services/http/scopes.ts',
      'docs/reference/sql.md',
    ],
    build() {
      run(TSC, '-p', 'services/console');
      buildFolder('console', (folder) => [
        VITE,
        'build',
        'services/console',
        '--outDir',
        folder,
        '--emptyOutDir',
      ]);
    },
  },
  docs: {
    sources: [
      'docs',
      'services/console/precompress.ts',
      ...SITE_FILES.map((name) => `site/.vitepress/${name}`),
      'services/console/icon.svg',
    ],
    build() {
      run(TSC, '-p', 'site');
      buildFolder('docs', (folder) => [VITEPRESS, 'build', 'site', '--outDir', folder]);
    },
  },
};

/** Replaces a folder of dist/ once it is built whole. */
function buildFolder(name, command) {
  const folder = join(DIST, `${name}-${process.pid}`);
  try {
    run(...command(folder));
    rmSync(join(DIST, name), { recursive: true, force: true });
    renameSync(folder, join(DIST, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const options = new Set(process.argv.slice(2));
if (!Object.keys(PARTS).some((name) => options.has(name)))
  for (const name of ['server', 'client', 'console', 'docs']) options.add(name);
if (options.has('server') || options.has('tests')) options.add('bundles');
try {
  for (const [name, part] of Object.entries(PARTS)) if (options.has(name)) buildPart(name, part);
  chmodSync(join(DIST, 'services/cli/main.js'), 0o755);
  if (options.has('--watch')) watch();
} catch (error) {
  // A tool that ran has printed why.
  process.exitCode = error.status ?? 1;
  if (typeof error.status !== 'number') console.error(error.message);
}

function buildPart(name, { sources, build }) {
  // Its modification time is the start of the build.
  const marker = join(DIST, `.built-${name}`);
  const startedAt = new Date();
  if (
    options.has('--if-needed') &&
    modifiedAt(marker) >= Math.max(...[...SETTINGS, ...sources].map(newest))
  ) {
    return;
  }
  build();
  writeFileSync(marker, '');
  utimesSync(marker, startedAt, startedAt);
}

/** Compiles what is saved until interrupted. */
function watch() {
  const start = (...args) => spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  start(TSC, '--watch', '--preserveWatchOutput');
  for (const bundle of BUNDLES) start(VITE, ...bundle, '--watch');
  start(VITE, 'build', 'services/console', '--outDir', join(DIST, 'console'), '--watch');
}

/** Removes what was compiled from files that are gone. */
function removeStale(root) {
  for (const name of readdirSync(join(DIST, root), { recursive: true })) {
    if (!name.endsWith('.js')) continue;
    const source = join(ROOT, root, name.slice(0, -'.js'.length));
    if (existsSync(`${source}.ts`) || existsSync(`${source}.tsx`)) continue;
    for (const suffix of ['', '.map']) rmSync(join(DIST, root, name + suffix), { force: true });
  }
}

function run(...args) {
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
}

/** Milliseconds; 0 for a file that does not exist. */
function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The latest modification of a file, or of anything in a folder. */
function newest(path) {
  const file = join(ROOT, path);
  if (!statSync(file, { throwIfNoEntry: false })?.isDirectory()) return modifiedAt(file);
  return Math.max(modifiedAt(file), ...readdirSync(file).map((name) => newest(join(path, name))));
}
