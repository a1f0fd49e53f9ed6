/** Runs the tests under faults at full size, one file after another: `main.js [part of a path …]`. Variables that are already set stay. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import { wordsOf } from '../support/words.js';

const TESTS = join(packageRoot, 'dist/test');
const MOCHA = join(packageRoot, 'node_modules/mocha/bin/mocha.js');

/** Each night draws anew; the seed alone determines the draws. */
const SEED = String(randomInt(1_000_000));
/** The factor by which a full run has more draws, rounds and records than `npm test`. */
const FACTOR = 10;
const FACTORS: Record<string, number> = {
  'at-scale/kafka/kill-points': 20,
  'at-scale/kafka/worker': 125,
  'durability/kill-9': 100,
  'gateway/embedded': 30,
  'ingest/mapping/locales': 40,
};

/** Tests of the worker, then tests of the gateway and its stores. */
const FILES = [
  ...testsIn('at-scale/kafka'),
  ...testsIn('at-scale/durability'),
  ...wordsOf(`
at-scale/elasticsearch/reindex-faults at-scale/elasticsearch/erasure-faults durability/kill-9 durability/backup
durability/engine-process hostile-strings/hostile-strings at-scale/erasure-history
stores/sqlite/record-store stores/sqlite/search-pool-model stores/elasticsearch/lease
`),
  ...testsIn('shared'),
  ...testsIn('search'),
  ...testsIn('contacts'),
  ...wordsOf(`
ingest/mapping/locales sql-endpoint/parser advertising/metric-values gateway/embedded at-scale/gateway
gateway/published-schema site/browser
at-scale/parity advertising/oracle bench/relevance console/story advertising/rollups
at-scale/clickhouse/analytics-store at-scale/clickhouse/advertising
`),
];

/** Tests with random draws. Other tests do nothing more here than in the daily run. */
function testsIn(folder: string): string[] {
  const names = readdirSync(join(TESTS, folder)).filter((name) => name.endsWith('.test.js'));
  return names
    .filter((name) => /random\.js'|'fast-check'/.test(readFileSync(join(TESTS, folder, name), 'utf8')))
    .map((name) => `${folder}/${name.replace('.test.js', '')}`);
}

function passes(file: string): boolean {
  const mocha = [MOCHA, '--no-config', '--enable-source-maps', '--forbid-only', '--timeout', '600000'];
  const { error, status } = spawnSync(
    process.execPath,
    ['--max-old-space-size=8192', ...mocha, join(TESTS, `${file}.test.js`)],
    {
      env: { TEST_SEED: SEED, TEST_RUNS_FACTOR: String(FACTORS[file] ?? FACTOR), ...process.env },
      stdio: 'inherit',
    },
  );
  if (error) throw error;
  return status === 0;
}

/** All tests, or those whose path contains one of the arguments. */
const parts = process.argv.slice(2);
const chosen = FILES.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));

const outcomes = chosen.map((file) => {
  const begun = performance.now();
  const outcome = passes(file) ? 'passed' : 'FAILED';
  return { file, outcome, seconds: Math.round((performance.now() - begun) / 1000) };
});
console.table(outcomes);
if (outcomes.some(({ outcome }) => outcome === 'FAILED')) process.exitCode = 1;
