/** Breaks the worker in a copy of what was built, one way at a time; a test must fail each time, and none without. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/package-root.js';
import { MUTANTS, type Mutant } from './mutants.js';

const COPIED = ['dist', 'mappings', 'package.json'];
/** Enough that every kind of record is among them. */
const SIZE = { TEST_RECORDS: '3000', TEST_POINT_KILLS: '2' };
const OUTPUT_CHARACTERS = 5000;

interface Run {
  passed: boolean;
  /** The first error of the report. */
  why: string;
  output: string;
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'reachline-mutations-'));
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of COPIED) cpSync(join(packageRoot, name), join(folder, name), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));

  const outcomes: { mutant: string; test: string; outcome: string }[] = [];
  const tell = (mutant: string, { test, only }: Mutant, outcome: string) => {
    outcomes.push({ mutant, test: [test, only].filter(Boolean).join(': '), outcome });
    process.stderr.write(`${mutant}: ${outcome}\n`);
  };
  const whole = new Set<string>();
  for (const mutant of MUTANTS) {
    const { name, file, replace, by } = mutant;
    const path = join(folder, 'dist', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(replace).length !== 2) {
      tell(name, mutant, 'NOT FOUND: the text to replace is not there once');
      continue;
    }
    const key = `${mutant.test} ${mutant.only}`;
    if (!whole.has(key)) {
      whole.add(key);
      const { passed, output } = await run(folder, mutant);
      if (!passed) {
        process.stderr.write(output);
        tell('nothing broken', mutant, 'FAILED');
        continue;
      }
    }
    writeFileSync(
      path,
      text.replace(replace, () => by),
    );
    const { passed, why } = await run(folder, mutant);
    writeFileSync(path, text);
    tell(name, mutant, passed ? 'SURVIVED' : `caught (${why.slice(0, 70)})`);
  }
  console.table(outcomes);
  return outcomes.every(({ outcome }) => outcome.startsWith('caught')) ? 0 : 1;
}

function run(folder: string, { test, only }: Mutant): Promise<Run> {
  const args = [
    join(folder, 'node_modules/mocha/bin/mocha.js'),
    ...['--no-config', '--exit', ...(only ? ['--fgrep', only] : [])],
    join(folder, 'dist/test/at-scale/kafka', test),
  ];
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...SIZE } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const ran = /^ +[1-9]\d* (passing|failing)/m.test(output);
      if (!ran) reject(new Error(`no test of ${test} ran:\n${output}`));
      const why = /failing\n\n +1\) .*\n.*:\s+(\S.*)/.exec(output)?.[1] ?? 'without an error';
      resolve({ passed: code === 0, why, output: output.slice(-OUTPUT_CHARACTERS) });
    });
  });
}

process.exitCode = await main();
