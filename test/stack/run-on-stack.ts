import { spawn } from 'node:child_process';
import { isRunning } from './process-identity.js';
import {
  readStack,
  SERVER_NAMES,
  type ServerName,
  type Stack,
  startStack,
  stopStack,
  VARIABLES,
} from './stack.js';
import { MissingPrerequisite } from './stack-error.js';

/**
 * Runs a command with the address of each server in its environment and resolves with its exit code. What is there already, in
 * the environment or started before, is used and left; the rest is started and stopped. A server that this machine cannot run
 * is left out, and said to be.
 */
export async function runOnStack(
  command: string,
  args: readonly string[],
  tell: (line: string) => void,
): Promise<number> {
  const before = readStack();
  const wanted = SERVER_NAMES.filter((name) => !process.env[VARIABLES[name]]);
  const ours: ServerName[] = [];
  const addresses: Record<string, string> = {};
  const stop = () => stopStack(tell, ours);
  const interrupted = () => void stop().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    for (const name of wanted) {
      const started = before[name];
      if (!(started && isRunning(started))) ours.push(name);
      const stack = await start(name, tell);
      if (stack[name]) addresses[VARIABLES[name]] = stack[name].address;
    }
    return await run(command, args, { ...process.env, ...addresses });
  } finally {
    await stop();
  }
}

async function start(name: ServerName, tell: (line: string) => void): Promise<Stack> {
  try {
    return await startStack([name], tell);
  } catch (error) {
    if (!(error instanceof MissingPrerequisite)) throw error;
    tell(`${name} is left out, and tests that need it are skipped: ${error.message}`);
    return {};
  }
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
