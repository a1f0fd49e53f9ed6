/** Runs schedules of the worker's batch processor: `npm run test:nightly -- simulation [--schedules N] [--seconds N] [--seed N]`. */
import { parseArgs } from 'node:util';
import { runSchedule } from './schedule.js';

const FIRST_SEED = 1;
/** One schedule in this many is repeated, and must have the same log. */
const SCHEDULES_PER_REPEAT = 100;

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '300' },
    first: { type: 'string', default: String(FIRST_SEED) },
    seed: { type: 'string' },
  },
});

async function main(): Promise<number> {
  if (values.seed !== undefined) {
    const { log, digest, violations } = await runSchedule(Number(values.seed), { keepLog: true });
    console.log(log.join('\n'));
    console.log(`seed ${values.seed}, log ${digest}`);
    console.log(violations.length === 0 ? 'passed' : violations.join('\n'));
    return violations.length === 0 ? 0 : 1;
  }
  const began = performance.now();
  const wanted = Number(values.schedules);
  const first = Number(values.first);
  let run = 0;
  let steps = 0;
  const isOver = () => performance.now() - began > Number(values.seconds) * 1000;
  for (; run < wanted && !isOver(); run++) {
    const seed = first + run;
    const outcome = await runSchedule(seed);
    steps += outcome.steps;
    const { violations } = outcome;
    if (run % SCHEDULES_PER_REPEAT === 0 && (await runSchedule(seed)).digest !== outcome.digest) {
      violations.push('the same seed went another way');
    }
    if (violations.length > 0) {
      console.log(`Seed ${seed} failed after ${run + 1} schedules:\n${violations.join('\n')}`);
      console.log(`Again, with its log: npm run test:nightly -- simulation --seed ${seed}`);
      return 1;
    }
  }
  const seconds = (performance.now() - began) / 1000;
  console.log(`${run} schedules passed, ${steps} steps, ${seconds.toFixed(1)} s`);
  return 0;
}

process.exitCode = await main();
