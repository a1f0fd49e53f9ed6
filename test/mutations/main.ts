/**
 * Breaks the worker in a copy of the build, one mutant at a time: the simulation must find each within a minute, and its test against
 * real servers, if it has one, must fail. `--simulation` leaves the servers out.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import { MUTANTS, type Mutant } from './mutants.js';

const COPIED = ['dist', 'mappings', 'package.json'];
/** Enough for every kind of record. */
const SIZE = { TEST_RECORDS: '3000', TEST_POINT_KILLS: '2' };
const OUTPUT_CHARACTERS = 5000;
const SIMULATION_SECONDS = 60;

interface Run {
  passed: boolean;
  /** The first error of the report. */
  why: string;
  output: string;
}

async function main(): Promise<number> {
  const withServers = !process.argv.includes('--simulation');
  const folder = mkdtempSync(join(tmpdir(), 'reachline-mutations-'));
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of COPIED) cpSync(join(packageRoot, name), join(folder, name), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));

  const outcomes: { mutant: string; test: string; outcome: string }[] = [];
  const report = (mutant: string, test: string, outcome: string) => {
    outcomes.push({ mutant, test, outcome });
    process.stderr.write(`${mutant}: ${outcome}\n`);
  };
  const unmutated = new Set<string>();
  for (const mutant of MUTANTS) {
    const { name, file, replace, by } = mutant;
    const test = [mutant.test, mutant.only].filter(Boolean).join(': ');
    const path = join(folder, 'dist', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(replace).length !== 2) {
      report(name, test, 'NOT FOUND: the text to replace is not there once');
      continue;
    }
    const key = `${mutant.test} ${mutant.only}`;
    if (withServers && mutant.test !== undefined && !unmutated.has(key)) {
      unmutated.add(key);
      const { passed, output } = await run(folder, mutant);
      if (!passed) {
        process.stderr.write(output);
        report('nothing broken', test, 'FAILED');
        continue;
      }
    }
    writeFileSync(
      path,
      text.replace(replace, () => by),
    );
    const simulated = await simulate(folder);
    report(name, 'simulation', simulated.passed ? 'SURVIVED' : `caught (${simulated.why.slice(0, 70)})`);
    if (withServers && mutant.test !== undefined) {
      const { passed, why } = await run(folder, mutant);
      report(name, test, passed ? 'SURVIVED' : `caught (${why.slice(0, 70)})`);
    }
    writeFileSync(path, text);
  }
  console.table(outcomes);
  return outcomes.every(({ outcome }) => outcome.startsWith('caught')) ? 0 : 1;
}

async function simulate(folder: string): Promise<Run> {
  const main = join(folder, 'dist/test/simulation/main.js');
  const { code, output } = await execute(folder, [main, '--seconds', String(SIMULATION_SECONDS)]);
  if (code !== 0 && !output.includes('Seed')) throw new Error(`the simulation did not run:\n${output}`);
  return { passed: code === 0, why: output.split('\n')[0] ?? '', output };
}

async function run(folder: string, { test = '', only }: Mutant): Promise<Run> {
  const args = [
    join(folder, 'node_modules/mocha/bin/mocha.js'),
    ...['--no-config', '--exit', ...(only ? ['--fgrep', only] : [])],
    join(folder, 'dist/test/at-scale/kafka', test),
  ];
  const { code, output } = await execute(folder, args);
  const ran = /^ +[1-9]\d* (passing|failing)/m.test(output);
  if (!ran) throw new Error(`no test of ${test} ran:\n${output}`);
  const why = /failing\n\n +1\) .*\n.*:\s+(\S.*)/.exec(output)?.[1] ?? 'without an error';
  return { passed: code === 0, why, output: output.slice(-OUTPUT_CHARACTERS) };
}

function execute(folder: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...SIZE } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

process.exitCode = await main();
