import { spawn } from 'node:child_process';
import { isRunning } from './process-identity.js';
import { readStack, SERVER_NAMES, startStack, stopStack, VARIABLES } from './stack.js';
import { MissingPrerequisite } from './stack-error.js';

/** What test runners understand as "skipped". */
const SKIPPED = 77;

/**
 * Runs a command with the address of each server in its environment and resolves with its exit code. What is there already, in
 * the environment or started before, is used and left; the rest is started and stopped. Where this machine lacks what a server
 * needs, the command does not run.
 */
export async function runOnStack(
  command: string,
  args: readonly string[],
  tell: (line: string) => void,
): Promise<number> {
  const before = readStack();
  const wanted = SERVER_NAMES.filter((name) => !process.env[VARIABLES[name]]);
  const ours = wanted.filter((name) => !(before[name] && isRunning(before[name])));
  const stop = () => stopStack(tell, ours);
  const interrupted = () => void stop().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const stack = await startStack(wanted, tell);
    const addresses = wanted.map((name) => [VARIABLES[name], stack[name]?.address]);
    return await run(command, args, { ...process.env, ...Object.fromEntries(addresses) });
  } catch (error) {
    if (!(error instanceof MissingPrerequisite)) throw error;
    tell(`skipped: ${error.message}`);
    return SKIPPED;
  } finally {
    await stop();
  }
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
