/**
 * Runs suites of tests: `node test/run.mjs <suite …>`, or test files alone: `node test/run.mjs test test/search/typos.test.ts -g words`.
 * Without a suite it lists them.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const MOCHA = 'node_modules/mocha/bin/mocha.js';

/** Arguments of Node. */
const mocha = (...args) => [MOCHA, ...args];
const script = (name, ...args) => [`dist/test/${name}/main.js`, ...args];
/** Runs a command on real servers, which are started for it. */
const onStack = (command, ...options) =>
  script('stack', 'run', ...options, '--', process.execPath, ...command);
const serial = (folder, minutes) =>
  mocha('--timeout', `${minutes * 60_000}`, `dist/test/${folder}/**/*.test.js`);

/** Tests of the nightly suite `faults`, in full size. The simulation, parity or a smaller test looks for the same faults daily. */
const FAULTS = [
  'elasticsearch/{reindex-faults,erasure-faults}',
  'durability/*',
  'kafka/kill-points',
  'erasure-history',
  'clickhouse/advertising',
].map((files) => `dist/test/at-scale/${files}.test.js`);

/** Commands of each suite, in order. Long files come first, so that no job waits for a long file at the end. */
const SUITES = {
  test: [
    mocha(
      '--parallel',
      '--jobs=5',
      ...['console', 'durability', 'gateway', 'stores', 'cli', 'advertising'].map(
        (folder) => `dist/test/${folder}/**/*.test.js`,
      ),
      'dist/test/!(console|durability|gateway|stores|cli|advertising|at-scale|hostile|clients|tools|planted)/**/*.test.js',
      'dist/test/*.test.js',
    ),
  ],
  stack: [onStack(['test/run.mjs', 'at-scale'], '--quick')],
  'at-scale': [
    mocha(
      '--parallel',
      '--jobs=5',
      ...FAULTS.flatMap((spec) => ['--ignore', spec]),
      'dist/test/at-scale/*.test.js',
      'dist/test/at-scale/kafka/**/*.test.js',
      'dist/test/at-scale/!(kafka)/**/*.test.js',
    ),
  ],
  hostile: [serial('hostile', 1)],
  simulation: [script('simulation')],
  faults: [onStack(script('faults'))],
  clusters: [script('clusters')],
  containers: [script('containers')],
  clients: [serial('clients', 2)],
  tools: [serial('tools', 10)],
  planted: [serial('planted', 20)],
};
/** Options of suites that run together with others. */
const AMONG_OTHERS = { clusters: ['--repeats=1'] };
const NIGHTLY = ['hostile', 'simulation', 'faults', 'clusters', 'containers', 'clients', 'tools', 'planted'];

const [name = '', ...args] = process.argv.slice(2);
const files = args.filter((each) => each.endsWith('.test.ts'));
const others = args.filter((each) => !files.includes(each));

if (name === 'test' && files.length > 0) {
  const site = files.some((file) => file.includes('test/site/'));
  const console = site || files.some((file) => file.includes('test/console/'));
  build('tests', ...(console ? ['console'] : []), ...(site ? ['docs'] : []));
  const built = files.map((file) => join('dist', file.replace(/\.ts$/, '.js')));
  process.exitCode = run(mocha(...built, ...others));
} else if (name === 'nightly') {
  build('tests', 'client', 'console', 'docs');
  const [first] = args;
  const chosen = first === undefined ? NIGHTLY : args.filter((each) => NIGHTLY.includes(each));
  if (chosen.length === 0) unknown(first);
  // Options apply only to a suite that is named alone.
  const optionsOf = (suite) => (chosen.length === 1 ? args.slice(1) : (AMONG_OTHERS[suite] ?? []));
  process.exitCode = Math.max(...chosen.map((suite) => runSuite(suite, optionsOf(suite))));
} else if (Object.hasOwn(SUITES, name)) {
  build('tests', 'client', 'console', 'docs');
  process.exitCode = runSuite(name, args);
} else unknown(name);

function unknown(suite) {
  console.error(`There is no suite ${suite}. There are: ${Object.keys(SUITES).join(', ')}.`);
  process.exit(2);
}

/** Runs the commands of a suite; returns the greatest exit code. */
function runSuite(suite, more) {
  console.error(`suite ${suite}`);
  return Math.max(...SUITES[suite].map((command) => run([...command, ...more])));
}

function build(...parts) {
  const code = run(['build.mjs', ...parts, '--if-needed']);
  if (code !== 0) process.exit(code);
}

function run(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  return status ?? 1;
}
