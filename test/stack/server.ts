import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { groupEnds, isRunning, killGroup, type ProcessIdentity, startOf } from './process-identity.js';
import { StackError } from './stack-error.js';
import type { User } from './unprivileged-user.js';

/** Everything that is settled about a server before it runs. */
export interface ServerPlan {
  name: string;
  /** The address for clients: a URL, or `host:port`. */
  address: string;
  /** Folder of its configuration, data and log; the server has no files elsewhere. */
  folder: string;
  command: string;
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
  user: User | null;
  answers(): Promise<boolean>;
}

/** A server in processes of its own, which a test may kill and start again. */
export interface Server {
  readonly name: string;
  readonly address: string;
  readonly folder: string;
  readonly user: User | null;
  /** Id of the process that was started last. */
  readonly pid: number;
  /** Sends `kill -9`; resolves when the server is gone. */
  kill(): Promise<void>;
  /** Sends `SIGSTOP`: the server keeps its connections and does not respond. */
  freeze(): void;
  thaw(): void;
  /** Asks the server to end, and waits until it has ended. */
  stop(): Promise<void>;
  /** Starts the server again on its port and folder; resolves when it responds. */
  start(): Promise<void>;
  /** Kills the server and removes its folder. */
  remove(): Promise<void>;
}

const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 30_000;

/** Starts the server and resolves when it responds. The server ends with this process. */
export async function startServer(plan: ServerPlan): Promise<Server> {
  let identity = launch(plan);
  const endWithUs = () => {
    if (isRunning(identity)) process.kill(-identity.pid, 'SIGKILL');
    rmSync(plan.folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', endWithUs);
  const server: Server = {
    name: plan.name,
    address: plan.address,
    folder: plan.folder,
    user: plan.user,
    get pid() {
      return identity.pid;
    },
    kill: () => killGroup(identity),
    freeze: () => process.kill(-identity.pid, 'SIGSTOP'),
    thaw: () => process.kill(-identity.pid, 'SIGCONT'),
    async stop() {
      if (!isRunning(identity)) return;
      process.kill(identity.pid, 'SIGTERM');
      if (!(await groupEnds(identity.pid, STOP_TIMEOUT_MS))) await killGroup(identity);
    },
    async start() {
      identity = launch(plan);
      await untilAnswers(plan, identity);
    },
    async remove() {
      await killGroup(identity);
      process.off('exit', endWithUs);
      rmSync(plan.folder, { recursive: true, force: true });
    },
  };
  try {
    await untilAnswers(plan, identity);
  } catch (error) {
    await server.remove();
    throw error;
  }
  return server;
}

/** Starts a process group. Its output goes to a file in its folder. */
function launch(plan: ServerPlan): ProcessIdentity {
  const log = openSync(logFile(plan), 'a');
  const child = spawn(plan.command, plan.args, {
    cwd: plan.folder,
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...plan.environment },
    stdio: ['ignore', log, log],
    detached: true,
    ...plan.user,
  });
  closeSync(log);
  child.on('error', () => undefined);
  child.unref();
  const startedAt = child.pid === undefined ? null : startOf(child.pid);
  if (child.pid === undefined || startedAt === null) throw failure(plan, 'could not be started');
  return { pid: child.pid, startedAt };
}

async function untilAnswers(plan: ServerPlan, identity: ProcessIdentity): Promise<void> {
  for (const until = performance.now() + START_TIMEOUT_MS; performance.now() < until; ) {
    if (await plan.answers().catch(() => false)) return;
    if (!isRunning(identity)) throw failure(plan, 'ended while it started');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw failure(plan, `did not answer within ${START_TIMEOUT_MS / 1000} s`);
}

/** Whether a server responds to a request within a second, with anything or exactly with `expected`. */
export function answersTo(port: number, request: Buffer | string, expected?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    const settle = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('data', (data) => settle(expected === undefined || String(data) === expected));
    socket.once('error', () => settle(false));
    socket.setTimeout(1000, () => settle(false));
  });
}

const logFile = ({ folder, name }: ServerPlan) => join(folder, `${name}.log`);

function failure(plan: ServerPlan, what: string): StackError {
  const lines = readFileSync(logFile(plan), 'utf8').trim().split('\n').slice(-20);
  return new StackError(`${plan.name} ${what}. The end of its log:\n${lines.join('\n')}`);
}
