/** The tests of the worker at their full sizes, one file after the other. What the environment sets already stays. */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/package-root.js';

const FOLDER = join(packageRoot, 'dist/test/at-scale/kafka');
const MOCHA = join(packageRoot, 'node_modules/mocha/bin/mocha.js');

const FULL: Record<string, string> = {
  TEST_RECORDS: '200000',
  TEST_WORKER_KILLS: '50',
  TEST_POINT_KILLS: '20',
  TEST_STORE_KILLS: '10',
  TEST_AWAY_MS: '60000',
  TEST_FAULT_ROUNDS: '10',
  TEST_LETTERS: '20000',
  TEST_BROKER_KILLS: '10',
};
const FULL_OF_FILE: Record<string, Record<string, string>> = {
  'worker.test.js': { TEST_RECORDS: '1000000' },
};

function run(file: string): Promise<boolean> {
  const args = [
    '--no-config',
    '--enable-source-maps',
    '--forbid-only',
    '--timeout',
    '600000',
    join(FOLDER, file),
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

const outcomes: { file: string; outcome: string; seconds: number }[] = [];
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.test.js'))) {
  const begun = performance.now();
  const passed = await run(file);
  const seconds = Math.round((performance.now() - begun) / 1000);
  outcomes.push({ file, outcome: passed ? 'passed' : 'FAILED', seconds });
  if (!passed) process.exitCode = 1;
}
console.table(outcomes);
