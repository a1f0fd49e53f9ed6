import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { run as runCommand } from '../../services/cli/run.js';
import { packageRoot } from '../../services/shared/fs.js';
import { type ServerProcess, startServer } from '../support/server-process.js';

export const MAIN = join(packageRoot, 'dist/services/cli/main.js');

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  stdin?: string | Buffer;
}

export function start(args: string[], { env = {} }: RunOptions = {}): ChildProcess {
  const { PATH = '' } = process.env;
  return spawn(process.execPath, [MAIN, ...args], {
    env: { PATH, REACHLINE_SEARCH_PROCESSES: '1', ...env },
  });
}

/**
 * Runs a command to its end like main.ts, but in this process: starting Node.js and loading modules takes most of the time of a command.
 * Only a separate process can read standard input, which is descriptor 0.
 */
export async function run(args: string[], options: RunOptions = {}): Promise<Outcome> {
  if (args.includes('-')) return runProcess(args, options);
  const written = { stdout: '', stderr: '' };
  const into = (output: keyof typeof written) =>
    new Writable({
      decodeStrings: false,
      write(chunk, _, done) {
        written[output] += chunk;
        done();
      },
    });
  const io = {
    stdin: Readable.from([]),
    stdout: into('stdout'),
    stderr: into('stderr'),
    env: { REACHLINE_SEARCH_PROCESSES: '1', ...options.env },
  };
  const code = await runCommand(args, io);
  return { code, ...written };
}

/** Runs the built command in a separate process, for servers and for tests of the process itself. */
export async function runProcess(args: string[], options: RunOptions = {}): Promise<Outcome> {
  const child = start(args, options);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.stdin ?? '');
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** A server on its own port, which prints the same as on a terminal. */
export const serve = (args: string[], { env }: RunOptions = {}): Promise<ServerProcess> =>
  startServer({ args: ['serve', ...args], environment: { REACHLINE_LOG_LEVEL: 'info', ...env } });
