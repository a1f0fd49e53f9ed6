/** The servers of one checkout, up between two commands. A file in the checkout remembers what was started. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import { planClickHouse } from './clickhouse.js';
import { planElasticsearch } from './elasticsearch.js';
import { planKafka } from './kafka.js';
import { isRunning, killGroup, type ProcessIdentity } from './process-identity.js';
import { launch, type ServerPlan, untilAnswers } from './server.js';

/** What is told of each server, in this order. */
export const VARIABLES = {
  elasticsearch: 'ELASTICSEARCH_URL',
  kafka: 'KAFKA_BROKERS',
  clickhouse: 'CLICKHOUSE_URL',
} as const;
export type ServerName = keyof typeof VARIABLES;
export const SERVER_NAMES = Object.keys(VARIABLES) as ServerName[];

const PLANS: Record<ServerName, () => Promise<ServerPlan>> = {
  elasticsearch: planElasticsearch,
  kafka: planKafka,
  clickhouse: planClickHouse,
};

interface Started extends ProcessIdentity {
  address: string;
  folder: string;
}
export type Stack = Partial<Record<ServerName, Started>>;

const STATE_FILE = join(packageRoot, '.stack.json');

/** What was started and not stopped, running or not. */
export function readStack(): Stack {
  try {
    return JSON.parse(readFileSync(STATE_FILE, 'utf8')) as Stack;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Starts those of the named servers that do not run, and resolves when all answer; when one fails, ends what it started. */
export async function startStack(names: readonly ServerName[], tell: (line: string) => void): Promise<Stack> {
  const stack = readStack();
  const missing = names.filter((name) => {
    const before = stack[name];
    if (before && isRunning(before)) {
      tell(`${name} runs already`);
      return false;
    }
    if (before) rmSync(before.folder, { recursive: true, force: true });
    return true;
  });
  const outcomes = await Promise.allSettled(
    missing.map(async (name) => {
      tell(`${name} starts`);
      const plan = await PLANS[name]();
      const identity = launch(plan);
      stack[name] = { ...identity, address: plan.address, folder: plan.folder };
      writeStack(stack);
      await untilAnswers(plan, identity);
      tell(`${name} answers`);
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) {
    await stopStack(tell, missing);
    throw failed.reason;
  }
  return stack;
}

/** Ends what was started, and nothing else, and removes its folders. */
export async function stopStack(tell: (line: string) => void, names = SERVER_NAMES): Promise<void> {
  const stack = readStack();
  for (const name of names) {
    const server = stack[name];
    if (!server) continue;
    await killGroup(server);
    rmSync(server.folder, { recursive: true, force: true });
    delete stack[name];
    tell(`${name} stopped`);
  }
  writeStack(stack);
}

function writeStack(stack: Stack): void {
  if (Object.keys(stack).length === 0) rmSync(STATE_FILE, { force: true });
  else writeFileSync(STATE_FILE, `${JSON.stringify(stack, null, 2)}\n`);
}
