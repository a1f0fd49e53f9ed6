/**
 * The tests under faults at their full sizes, one file after the other: `main.js [part of a path …]`. What the environment sets
 * already stays.
 */

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';

const TESTS = join(packageRoot, 'dist/test');
const MOCHA = join(packageRoot, 'node_modules/mocha/bin/mocha.js');

/** Sizes of a full run. Without them each test does as much as shows the fault at all. */
const FULL: Record<string, string> = {
  TEST_RECORDS: '200000',
  TEST_KILL_ROUNDS: '200',
  TEST_FIRST_START_KILLS: '40',
  /** Each night draws anew; what is drawn depends on the seed alone. */
  REACHLINE_TEST_SEED: String(randomInt(1_000_000)),
  TEST_RUNS_FACTOR: '10',
  TEST_FUZZ_RUNS: '3000',
  TEST_RELEVANCE_STRIDE: '1',
  TEST_STORY_WALKS: '3',
  REACHLINE_LOCALE_RUNS: '10000',
};
const FULL_OF_FILE: Record<string, Record<string, string>> = {
  'at-scale/kafka/worker.test.js': { TEST_RECORDS: '1000000' },
};

/** The tests of the worker, then those of the gateway and its stores. */
const FILES = [
  ...testsIn('at-scale/kafka'),
  ...testsIn('at-scale/durability'),
  'at-scale/elasticsearch/reindex-faults.test.js',
  'at-scale/elasticsearch/erasure-faults.test.js',
  'durability/kill-9.test.js',
  'durability/backup.test.js',
  'stores/sqlite/search-store.test.js',
  'stores/sqlite/search-pool-model.test.js',
  'stores/elasticsearch/lease.test.js',
  ...testsIn('shared'),
  ...testsIn('search'),
  ...testsIn('contacts'),
  'ingest/mapping/locales.test.js',
  'sql-endpoint/parser.test.js',
  'advertising/metric-values.test.js',
  'gateway/embedded.test.js',
  'at-scale/gateway.test.js',
  'at-scale/parity.test.js',
  'advertising/oracle.test.js',
  'bench/relevance.test.js',
  'console/story.test.js',
  'advertising/rollups.test.js',
  'at-scale/clickhouse/analytics-store.test.js',
  'at-scale/clickhouse/advertising.test.js',
];

function testsIn(folder: string): string[] {
  return readdirSync(join(TESTS, folder))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `${folder}/${name}`);
}

function run(file: string): Promise<boolean> {
  const args = [
    '--no-config',
    '--enable-source-maps',
    '--forbid-only',
    '--timeout',
    '600000',
    join(TESTS, file),
  ];
  const env = { ...FULL, ...FULL_OF_FILE[file], ...process.env };
  const child = spawn(process.execPath, ['--max-old-space-size=8192', MOCHA, ...args], {
    env,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
}

/** All, or those whose path holds one of the arguments. */
const parts = process.argv.slice(2);
const chosen = FILES.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));

const outcomes: { file: string; outcome: string; seconds: number }[] = [];
for (const file of chosen) {
  const begun = performance.now();
  const passed = await run(file);
  const seconds = Math.round((performance.now() - begun) / 1000);
  outcomes.push({ file, outcome: passed ? 'passed' : 'FAILED', seconds });
  if (!passed) process.exitCode = 1;
}
console.table(outcomes);
