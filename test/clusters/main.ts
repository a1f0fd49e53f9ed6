/**
 * Clusters under faults, with concurrent clients: `main.js [--short] [--repeats N] [--minutes N] [part of a fault's name …]`. Each fault
 * runs ten times, or once in the short form. With minutes, rounds follow each other in changing order until the time has passed. After each
 * fault, everything that was acknowledged is compared with what is stored, and what clients of `contacts/changes` have with what a search
 * finds.
 */
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MissingPrerequisite } from '../stack/stack-error.js';
import { Random, SEED } from '../support/random.js';
import { type ClusterStack, startClusterStack } from './cluster-stack.js';
import { FAULTS, type Fault } from './faults.js';
import { FeedTraffic } from './feed-traffic.js';
import { checkDoctor } from './mistakes.js';
import { type Kind, type Seen, Traffic } from './traffic.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    repeats: { type: 'string' },
    minutes: { type: 'string', default: '0' },
  },
});
const REPEATS = Number(values.repeats ?? (values.short ? 1 : 10));
const QUIET_MS = values.short ? 8000 : 15_000;
const BROKEN_MS = values.short ? 15_000 : 45_000;
const KINDS: readonly Kind[] = ['read', 'create', 'ingest'];
/** Longest time until a 503, and longest delay that a fault may add to a read. */
const FAILED_MS = 5000;
const ADDED_MS = 3000;

function problemsOf({ fails }: Fault, before: Seen, kind: Kind, during: Seen): string[] {
  const problems: string[] = [];
  const { count, failed, slowestOkMs, slowestFailedMs, unretriable } = during;
  const failures = Object.values(failed).reduce((sum, each) => sum + each, 0);
  const others = failures - (failed[503] ?? 0);
  if (!fails.includes(kind) && failures > count / 1000)
    problems.push(`${failures} of ${count} ${kind}s failed`);
  if (others > 0) problems.push(`${kind}s failed with ${JSON.stringify(failed)}`);
  if (unretriable > 0) problems.push(`${unretriable} without Retry-After`);
  if (slowestFailedMs > FAILED_MS) problems.push(`a ${kind} failed after ${slowestFailedMs} ms`);
  if (kind === 'read' && slowestOkMs > before.slowestOkMs + ADDED_MS) {
    problems.push(`a read took ${slowestOkMs} ms instead of ${before.slowestOkMs} ms`);
  }
  return problems;
}

const chosen = FAULTS.filter(
  ({ name, isShort }) =>
    (!values.short || isShort) &&
    (positionals.length === 0 || positionals.some((part) => name.includes(part))),
).filter(({ name, needs }) => {
  const isPossible = needs?.() !== false;
  if (!isPossible) console.error(`skipped: ${name} takes root and iptables`);
  return isPossible;
});
const starting = startClusterStack().catch((error: unknown) => {
  if (!(error instanceof MissingPrerequisite)) throw error;
  console.error(`skipped: ${error.message}`);
  return null;
});
const interrupted = () => void starting.then((started) => started?.stop()).finally(() => process.exit(130));
process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
const stack = await starting;
const rows: Record<string, string | number>[] = [];
const describe = ({ count, failed, slowestOkMs, slowestFailedMs }: Seen) =>
  `${count} ${JSON.stringify(failed)} ok≤${slowestOkMs} failed≤${slowestFailedMs}`;

/** Rounds of all faults: a number of rounds, or rounds in changing order for a time. */
function* faults(): Generator<Fault> {
  const random = new Random(SEED);
  const minutes = Number(values.minutes);
  const end = performance.now() + minutes * 60_000;
  if (minutes > 0) console.error(`seed ${SEED}`);
  for (let round = 0; minutes > 0 || round < REPEATS; round++) {
    for (const fault of minutes > 0 ? random.shuffled(chosen) : chosen) {
      if (minutes > 0 && performance.now() >= end) return;
      yield fault;
    }
  }
}

/** Runs a fault; resolves with what clients saw, and what was wrong. */
async function endure(stack: ClusterStack, fault: Fault) {
  const traffic = new Traffic(stack, `t${Date.now().toString(36)}x`);
  const feed = new FeedTraffic(stack);
  const begun = performance.now();
  await pause(QUIET_MS);
  const broken = performance.now();
  await fault.run(stack, BROKEN_MS);
  const mended = performance.now();
  await stack.healed();
  const healed = performance.now();
  await pause(QUIET_MS);
  await Promise.all([traffic.stop(), feed.stop()]);
  const ended = performance.now();
  const problems: string[] = [];
  const row: Record<string, string | number> = { fault: fault.name };
  let lastFailure = 0;
  for (const kind of KINDS) {
    const during = traffic.seen(kind, broken, ended);
    row[kind] = describe(during);
    lastFailure = Math.max(lastFailure, during.lastFailure);
    problems.push(...problemsOf(fault, traffic.seen(kind, begun, broken), kind, during));
  }
  row['healed s'] = Math.round((healed - mended) / 1000);
  row['failed until s'] = Math.max(0, Math.round((lastFailure - broken) / 1000));
  row.load = Math.round(loadavg()[0] as number);
  problems.push(...(await traffic.check()), ...(await feed.check()));
  row.feed = feed.describe();
  return { row, problems };
}

try {
  if (stack && !values.short && (positionals.length === 0 || positionals.includes('doctor'))) {
    for (const problem of await checkDoctor(stack)) {
      console.error(problem);
      process.exitCode = 1;
    }
  }
  for (const fault of stack ? faults() : []) {
    const { row, problems } = await endure(stack as ClusterStack, fault);
    rows.push(row);
    console.log(JSON.stringify(row));
    for (const problem of problems.slice(0, 20)) console.error(`  ${fault.name}: ${problem}`);
    if (problems.length === 0) continue;
    process.exitCode = 1;
    const { gateways, workers } = stack as ClusterStack;
    for (const each of [...gateways, ...workers]) console.error(each.output().slice(-3000));
  }
} finally {
  await stack?.stop();
}
console.table(rows);
